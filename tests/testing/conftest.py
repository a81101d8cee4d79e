"""The official clients, pointed at a stand-in."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from google import genai

from headgate.testing import Provider

WAIT_S = 5.0


@pytest.fixture(scope="session")
def http() -> Iterator[httpx2.Client]:
    """One client for all tests: each loads the certificates of the world anew, and needs none."""
    with httpx2.Client(verify=False, timeout=WAIT_S) as client:
        yield client


@pytest.fixture
def claude(http: httpx2.Client) -> Callable[..., anthropic.Anthropic]:
    def client(provider: Provider, **how: Any) -> anthropic.Anthropic:
        how = {"api_key": "key", "max_retries": 0, "timeout": WAIT_S, **how}
        return anthropic.Anthropic(base_url=provider.url, http_client=http, **how)

    return client


@pytest.fixture
def gpt(http: httpx2.Client) -> Callable[..., openai.OpenAI]:
    def client(provider: Provider, **how: Any) -> openai.OpenAI:
        how = {"api_key": "key", "max_retries": 0, "timeout": WAIT_S, **how}
        return openai.OpenAI(base_url=provider.openai_url, http_client=http, **how)

    return client


@pytest.fixture
def gemini(http: httpx2.Client) -> Callable[..., genai.Client]:
    def client(provider: Provider, key: str = "key") -> genai.Client:
        options = {"base_url": provider.url, "httpx_client": http}
        return genai.Client(http_options=options, api_key=key)

    return client
