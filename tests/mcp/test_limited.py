import json

import pytest

from headgate.mcp.limited import RpcFailure, limited_result
from headgate.mcp.result import McpCall

CALL = McpCall("c", "search")


@pytest.mark.proves("R12")
@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"code": -32000, "message": "slow down", "data": {"status": 429}}, None),
        ({"code": 429, "message": "slow down"}, None),
        (
            {"code": -32603, "message": "slow down",
             "data": {"statusCode": 429, "headers": {"Retry-After": "30"}}},
            30,
        ),
        (
            {"code": -32603, "message": "slow down",
             "data": {"response": {}, "status": 503, "headers": {"retry-after": "2"}}},
            2,
        ),
    ],
)  # fmt: skip
def test_a_429_of_the_server_becomes_a_result_to_reason_about(error, seconds):
    raw = limited_result(CALL, RpcFailure(json.dumps(error).encode()), "api")

    result = json.loads(raw)
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"]) == {
        "type": "rate_limited",
        "retryAfterSeconds": seconds,
        "upstream": "api",
        "message": "slow down",
    }


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32602, "message": "429 is not a page"},
        {"code": -1, "data": {"status": 500}},
        {},
        7,
    ],
)
def test_any_other_error_stays_what_it_is(error):
    assert limited_result(CALL, RpcFailure(json.dumps(error).encode()), "api") is None
