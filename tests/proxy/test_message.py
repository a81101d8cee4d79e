import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.proxy.message import (
    Unreadable,
    answer,
    message_of,
    messages_of,
    refusal,
    request,
    with_id,
    with_params,
    with_result,
)


def test_a_request_a_notification_and_an_answer_are_told_apart():
    asked = message_of(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    told = message_of(b'{"jsonrpc":"2.0","method":"ping"}')
    got = message_of(b'{"jsonrpc":"2.0","id":"1","result":{}}')
    lost = message_of(b'{"jsonrpc":"2.0","id":null,"error":{"code":1}}')

    assert (asked.is_request, asked.is_answer) == (True, False)
    assert (told.is_request, told.is_answer) == (False, False)
    assert (got.is_request, got.is_answer) == (False, True)
    assert (lost.is_request, lost.is_answer) == (False, False)
    assert asked.id != got.id


def test_a_batch_is_read_one_by_one():
    raw = b' [{"id":1,"method":"a"}, {"method":"b"}]'
    assert [(m.id, m.method, m.raw) for m in messages_of(raw)] == [
        (b"1", "a", b'{"id":1,"method":"a"}'),
        (b"", "b", b'{"method":"b"}'),
    ]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b"Server started on stdio", b""),
        (b'{"id": 12, "method": "x", broken', b"12"),
        (b'{"result":' + b"[" * 100_000 + b"]" * 100_000 + b',"id":"a\\"b"}', b'"a\\"b"'),
        (b'{"id":7,"method":{"no":"text"}}', b"7"),
        (b"[{]", b""),
        (b"", b""),
    ],
)
def test_what_cannot_be_read_says_whom_to_tell(raw, found):
    with pytest.raises(Unreadable) as caught:
        messages_of(raw)
    assert caught.value.id == found


def test_what_clients_take_is_taken():
    message = message_of(b'{"id":1,"result":{"x":NaN,"y":"\\ud800"}}')
    assert message.result == b'{"x":NaN,"y":"\\ud800"}'


def test_a_change_leaves_all_else_as_it_is_written():
    raw = b'{ "jsonrpc": "2.0", "id": 1, "result": {}, "more": 1.0 }'
    assert with_result(message_of(raw), b'{"a":1}').raw == (
        b'{"jsonrpc":"2.0","id":1,"result":{"a":1},"more":1.0}'
    )
    asked = message_of(b'{"id":1,"method":"x"}')
    assert with_params(asked, b"{}").raw == b'{"id":1,"method":"x","params":{}}'
    assert with_id(asked, b'"two"').id == b'"two"'


def test_messages_of_our_own_can_be_read():
    assert message_of(answer(b"1", b"{}").raw).result == b"{}"
    assert json.loads(refusal(b"", -32700, 'a "word"').raw) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": 'a "word"'},
    }
    assert request("a/b", b"{}", b"3") == message_of(request("a/b", b"{}", b"3").raw)
    assert not request("a/b").is_request


@pytest.mark.proves("P24")
@given(
    raw=st.binary(max_size=60) | st.text(alphabet='{}[]":,0123id\\', max_size=60).map(str.encode)
)
def test_no_bytes_stop_the_reading(raw):
    with suppress(Unreadable):
        assert all(message.raw in raw for message in messages_of(raw))
