import asyncio

import pytest

from headgate.gateway.upstream_client import PublicOnly, proxies
from headgate.gateway.upstreams import DEFAULTS, Upstream
from tests.gateway.conftest import body_of
from tests.gateway.wire import KEEP, exchange, head, request
from tests.gateway.wire import Upstream as Listener

FINE = [head(content_length=2) + b"{}", KEEP]


def resolved(trusted, found=("127.0.0.1",)):
    async def resolve():
        resolver = PublicOnly(frozenset(trusted))
        resolver._inner = Found(found)
        return [one["host"] for one in await resolver.resolve("api.example", 443)]

    return asyncio.run(resolve())


class Found:
    """Answers as a name server would."""

    def __init__(self, addresses):
        self.addresses = addresses

    async def resolve(self, host, port, family):
        return [
            {"hostname": host, "host": at, "port": port, "family": family, "proto": 0, "flags": 0}
            for at in self.addresses
        ]


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "::1", "fe80::1%eth0"]
)
def test_a_name_that_nobody_wrote_does_not_lead_into_a_private_network(address):
    with pytest.raises(OSError, match="leads into a private network; name it with --upstream"):
        resolved([], [address])


def test_addresses_that_are_public_stay():
    assert resolved([], ["10.0.0.8", "160.79.104.10", "2607:6bc0::10"]) == [
        "160.79.104.10",
        "2607:6bc0::10",
    ]


def test_a_name_that_the_operator_wrote_leads_where_it_leads():
    assert resolved(["api.example"], ["10.0.0.8"]) == ["10.0.0.8"]


@pytest.mark.parametrize(("is_named", "status"), [(True, 200), (False, 502)])
def test_so_it_is_in_a_gateway_that_runs(gateway_to, is_named, status):
    with Listener(otherwise=FINE) as listener:
        url = listener.url.replace("127.0.0.1", "localhost")
        upstreams = (Upstream("anthropic", url, is_named=is_named),)
        gateway = gateway_to("http://127.0.0.1:1", upstreams=upstreams, passthrough=True)

        assert exchange(gateway.url, request(body_of())).status == status


def test_proxies_are_those_of_the_environment(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.lan:3128")
    monkeypatch.setenv("no_proxy", "api.openai.com,127.0.0.1")

    known = (*DEFAULTS, Upstream("here", "http://127.0.0.1:9"))
    assert proxies(known) == {
        "anthropic": "http://proxy.lan:3128",
        "gemini": "http://proxy.lan:3128",
    }


def test_a_request_goes_through_the_proxy_that_is_named(gateway_to, monkeypatch):
    with Listener(otherwise=FINE) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        gateway = gateway_to("http://llm.example", passthrough=True)

        assert exchange(gateway.url, request(body_of())).status == 200

    assert proxy.requests[0].first == "POST http://llm.example/v1/messages HTTP/1.1"
    assert proxy.requests[0].named["host"] == "llm.example"
