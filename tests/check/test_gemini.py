import pytest

from tests.check.histories import found, gemini_call, gemini_result, turn

ASKED = turn("user", {"text": "list the files"})
DONE = turn("model", {"text": "done"})

VALID = {
    "one question": [ASKED],
    "a turn without a role": [{"parts": [{"text": "hi"}]}],
    "a call and its result": [
        *[ASKED, turn("model", {"text": "I look."}, gemini_call("ls"))],
        turn("user", gemini_result("ls")),
    ],
    "parallel calls of one name": [
        *[ASKED, turn("model", gemini_call("ls"), gemini_call("ls"))],
        *[turn("user", gemini_result("ls"), gemini_result("ls")), DONE],
    ],
    "results in another order, told by their ids": [
        *[ASKED, turn("model", gemini_call("a", id="1"), gemini_call("b", id="2"))],
        turn("user", gemini_result("b", id="2"), gemini_result("a", id="1")),
    ],
    "an empty id, which is none": [
        *[ASKED, turn("model", gemini_call("a", id=""), gemini_call("b", id=""))],
        turn("user", gemini_result("a"), gemini_result("b", id="2")),
    ],
    "the older role of results": [
        *[ASKED, turn("model", gemini_call("ls"))],
        turn("function", gemini_result("ls")),
    ],
    "the other spelling": [
        *[ASKED, turn("model", {"function_call": {"name": "ls", "args": {}}})],
        turn("user", {"function_response": {"name": "ls", "response": {}}}),
    ],
    "signed calls, the siblings without": [
        *[ASKED, turn("model", gemini_call("a", signature="x"), gemini_call("b"))],
        turn("user", gemini_result("a"), gemini_result("b")),
    ],
    "an unsigned call of a turn that is over": [
        *[ASKED, turn("model", gemini_call("a")), turn("user", gemini_result("a"))],
        *[DONE, ASKED, turn("model", gemini_call("b", signature="x"))],
        turn("user", gemini_result("b")),
    ],
    "an empty text with a signature": [ASKED, turn("model", {"text": "", "thoughtSignature": "x"})],
    "unknown parts and fields": [turn("user", {"novelty": 1}, {"text": "a", "more": 2})],
}


@pytest.mark.parametrize("history", VALID.values(), ids=VALID.keys())
def test_a_valid_history_is_left_alone(history):
    assert found(history, "gemini") == []
    assert found({"contents": history}, "gemini") == []


BROKEN = {
    "no turn at all": ([], [("M1", "contents")]),
    "no turn but text": (["hi"], [("M1", "contents[0]")]),
    "an unknown role": ([{"role": "system", "parts": [{"text": "x"}]}], [("M1", "contents[0]")]),
    "no parts": ([{"role": "user"}], [("M1", "contents[0]")]),
    "an empty list of parts": ([turn("user")], [("M1", "contents[0]")]),
    "two turns of the user": ([ASKED, ASKED], [("M1", "contents[1]")]),
    "fewer results than calls": (
        [
            ASKED,
            turn("model", gemini_call("a"), gemini_call("b")),
            turn("user", gemini_result("a")),
        ],
        [("M2", "contents[1]")],
    ),
    "a history that ends with a call": (
        [ASKED, turn("model", gemini_call("a"))],
        [("M2", "contents[1]")],
    ),
    "a result under another name": (
        [ASKED, turn("model", gemini_call("a")), turn("user", gemini_result("b"))],
        [("M2", "contents[2].parts[0]")],
    ),
    "results in another order": (
        [
            *[ASKED, turn("model", gemini_call("a"), gemini_call("b"))],
            turn("user", gemini_result("b"), gemini_result("a")),
        ],
        [("M2", "contents[2].parts[0]"), ("M2", "contents[2].parts[1]")],
    ),
    "a result under the id of no call, beside an id that is used twice": (
        [
            *[ASKED, turn("model", gemini_call("a", id="1"), gemini_call("a", id="1"))],
            turn("user", gemini_result("a", id="0"), gemini_result("a", id="1")),
        ],
        [("M2", "contents[2].parts[0]")],
    ),
    "a result without the id of its call": (
        [ASKED, turn("model", gemini_call("a", id="1")), turn("user", gemini_result("a"))],
        [("M2", "contents[2].parts[0]")],
    ),
    "a result without a call": (
        [ASKED, DONE, turn("user", gemini_result("a"))],
        [("M2", "contents[2].parts[0]")],
    ),
    "a result by the model": (
        [ASKED, turn("model", gemini_result("a"))],
        [("M2", "contents[1].parts[0]")],
    ),
    "a call at the start": (
        [turn("model", gemini_call("a")), turn("user", gemini_result("a"))],
        [("M3", "contents[0].parts[0]")],
    ),
    "a call by the user": ([turn("user", gemini_call("a"))], [("M3", "contents[0].parts[0]")]),
    "a call that is text": (
        [ASKED, turn("model", {"functionCall": "a"})],
        [("M3", "contents[1].parts[0]")],
    ),
    "a result that is text": (
        [ASKED, turn("model", gemini_call("a")), turn("user", gemini_result("a", "ok"))],
        [("M4", "contents[2].parts[0]")],
    ),
    "a later step without a signature": (
        [
            *[ASKED, turn("model", gemini_call("a", signature="x"))],
            *[turn("user", gemini_result("a")), turn("model", gemini_call("b"))],
            turn("user", gemini_result("b")),
        ],
        [("M5", "contents[3].parts[0]")],
    ),
    "an empty text": ([turn("user", {"text": ""})], [("M6", "contents[0].parts[0]")]),
    "an empty part": ([turn("user", {})], [("M6", "contents[0].parts[0]")]),
    "a part that is text": ([turn("user", "hi")], [("M6", "contents[0].parts[0]")]),
}


@pytest.mark.parametrize(("history", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_found_in_its_place(history, expected):
    assert found(history, "gemini") == expected
    assert found({"contents": history}, "gemini") == expected


def test_calls_that_wait_for_their_results_are_not_missing_them():
    history = [ASKED, turn("model", gemini_call("a"), gemini_call("b"))]

    assert found(history, "gemini", pending=True) == []
    assert found([*history, turn("user", gemini_result("a"))], "gemini", pending=True) == []


def test_a_signature_is_wanted_by_the_models_that_sign():
    history = VALID["a call and its result"]

    assert found(history, "gemini", model="gemini-3-pro") == [("M5", "contents[1].parts[1]")]
    assert found(history, "gemini", model="models/gemini-3.6-flash") == [
        ("M5", "contents[1].parts[1]")
    ]
    assert found(history, "gemini", model="gemini-2.5-pro") == []
