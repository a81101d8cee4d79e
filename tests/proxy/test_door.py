import pytest

from headgate.proxy.door import BadAddress, Door, address_of, door_of

TOKEN = "t" * 22


@pytest.mark.parametrize(
    ("http", "address"),
    [
        ("8788", ("127.0.0.1", 8788)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:80", ("[::1]", 80)),
        ("0.0.0.0:65535", ("0.0.0.0", 65535)),
    ],
)
def test_an_address_is_a_port_with_or_without_a_host(http, address):
    assert address_of(http) == address


@pytest.mark.parametrize("http", ["", "host", "host:", "65536", "1:x", "127.0.0.1:-1", "٣"])
def test_any_other_address_is_refused(http):
    with pytest.raises(BadAddress):
        address_of(http)


def test_what_others_can_reach_needs_a_token_that_cannot_be_guessed():
    assert door_of("127.0.0.1:1", "") == Door("127.0.0.1", 1, "")
    assert door_of("0.0.0.0:1", TOKEN).token == TOKEN
    for short in ("", "secret"):
        with pytest.raises(BadAddress, match="HEADGATE_TOKEN"):
            door_of("0.0.0.0:1", short)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8788"}, None),
        ({"host": "localhost:8788", "origin": "http://localhost:8788"}, None),
        ({"host": "[::1]:8788"}, None),
        ({"host": "evil.example:8788"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
        ({}, 421),
        ({"host": "127.0.0.1:8788", "origin": "https://evil.example"}, 403),
        ({"host": "127.0.0.1:8788", "origin": "null"}, 403),
    ],
)
def test_a_page_in_a_browser_may_not_ask(headers, status):
    refused = Door("127.0.0.1", 8788, "").refuses(headers)
    assert (refused[0] if refused else None) == status


@pytest.mark.parametrize(
    ("given", "status"),
    [(f"Bearer {TOKEN}", None), (f"Bearer {TOKEN}x", 401), ("", 401), ("é", 401)],
)
def test_a_token_is_asked_for_where_there_is_one(given, status):
    refused = Door("0.0.0.0", 8788, TOKEN).refuses({"host": "any", "authorization": given})
    assert (refused[0] if refused else None) == status
