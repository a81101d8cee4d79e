import pytest

from headgate.errors import PolicyError
from headgate.gateway.entry import Entry
from headgate.gateway.refusals import Refusal
from headgate.gateway.serving import Serving
from headgate.gateway.upstreams import upstream_of

TOKEN = "t" * 32


def asked(entry, path="/v1/messages", **headers):
    named = {b"host": b"localhost:8787"}
    named |= {name.replace("_", "-").encode(): value for name, value in headers.items()}
    return entry.path_inside(path, named)


def refused(entry, path="/v1/messages", **headers):
    with pytest.raises(Refusal) as refusal:
        asked(entry, path, **headers)
    return refusal.value.status, refusal.value.reason


@pytest.mark.parametrize(
    "host", [b"localhost", b"LOCALHOST:8787", b"127.0.0.1:1", b"[::1]:8787", b"localhost.:80"]
)
def test_loopback_may_be_called_by_its_names(host):
    assert asked(Entry(), host=host) == "/v1/messages"


@pytest.mark.parametrize(
    "host", [b"", b"evil.example:8787", b"127.0.0.1.evil.example", b"localhost@evil", b"[::2]"]
)
def test_a_name_that_somebody_points_at_loopback_is_refused(host):
    assert refused(Entry(), host=host) == (421, "host")


def test_a_host_can_be_allowed():
    assert asked(Entry(hosts=frozenset({"gw.lan"})), host=b"gw.lan:8787") == "/v1/messages"


@pytest.mark.parametrize("origin", [b"https://evil.example", b"null", b"http://localhost:8787"])
def test_a_page_in_a_browser_is_refused(origin):
    assert refused(Entry(), origin=origin) == (403, "origin")


def test_a_page_can_be_allowed():
    entry = Entry(origins=frozenset({"https://mine.example"}))

    assert asked(entry, origin=b"https://Mine.example") == "/v1/messages"


def test_a_token_is_shown_in_a_header_or_in_the_path():
    entry = Entry(token=TOKEN)

    assert asked(entry, x_headgate_token=TOKEN.encode()) == "/v1/messages"
    assert asked(entry, f"/token/{TOKEN}/v1/messages") == "/v1/messages"


@pytest.mark.parametrize("shown", ["", "t", "T" * 32, TOKEN + "t", "\xff" * 32])
def test_another_token_is_refused(shown):
    entry = Entry(token=TOKEN)

    assert refused(entry, x_headgate_token=shown.encode("latin-1")) == (401, "token")
    assert refused(entry, f"/token/{shown}/v1/messages") == (401, "token")
    assert refused(entry) == (401, "token")


def test_the_host_is_looked_at_before_the_token():
    assert refused(Entry(token=TOKEN), host=b"evil.example") == (421, "host")


def test_a_token_in_the_path_is_taken_out_even_where_none_is_asked_for():
    assert asked(Entry(), "/token/anything/v1/messages") == "/v1/messages"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_nobody_listens_beyond_loopback_without_a_token(host):
    with pytest.raises(PolicyError, match="give a token"):
        Serving(host=host)
    assert Serving(host=host, entry=Entry(token=TOKEN)).host == host


def test_a_token_has_at_least_128_bits():
    with pytest.raises(PolicyError, match="21 characters; it takes 22"):
        Serving(entry=Entry(token="t" * 21))
    assert Serving(entry=Entry(token="t" * 22)).entry.token == "t" * 22


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8787", "http://localhost:8788", "http://[::1]:8787"]
)
def test_a_gateway_does_not_call_itself(url):
    with pytest.raises(PolicyError, match="this gateway"):
        Serving(upstreams=(upstream_of(f"openai={url}"),))


def test_the_token_is_not_shown():
    assert TOKEN not in repr(Serving(entry=Entry(token=TOKEN)))
