import pytest

from headgate.loopback import LOCAL_NAMES, is_loopback, shut_out

TOKEN = "t" * 22


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_only_this_machine_reaches_loopback(host, alone):
    assert is_loopback(host) == alone


@pytest.mark.parametrize(
    ("host", "origin", "shown", "reason"),
    [
        ("localhost:1", None, TOKEN, None),
        ("gw.lan:80", "https://Mine.example", TOKEN, None),
        ("gw.lan:81", None, TOKEN, "host"),
        ("evil.example", "https://evil.example", "", "host"),
        ("localhost", "https://evil.example", "", "origin"),
        ("localhost", None, "", "token"),
        ("localhost", None, TOKEN + "t", "token"),
    ],
)
def test_the_host_the_page_and_the_token_are_looked_at_in_this_order(host, origin, shown, reason):
    hosts, origins = LOCAL_NAMES | {"gw.lan:80"}, {"https://mine.example"}

    assert shut_out(host, origin, shown, hosts=hosts, origins=origins, token=TOKEN) == reason


def test_what_nobody_named_is_not_looked_at():
    assert shut_out("any", "null", "", hosts=None, origins=None, token="") is None
