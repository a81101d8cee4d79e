import pytest

from headgate.history.mending import INTERRUPTED
from tests.history.mending import mended


def turn(role, *parts):
    return {"role": role, "parts": list(parts)}


def call(name, id_=None, **more):
    said = {"name": name, "args": {}}
    return {"functionCall": {**said, "id": id_} if id_ else said, **more}


def answer(name, text="ok", id_=None):
    said = {"name": name, "response": {"result": text}}
    return {"functionResponse": {**said, "id": id_} if id_ else said}


GO = turn("user", {"text": "go"})


@pytest.mark.proves("H1")
def test_a_missing_response_goes_into_the_same_turn_in_call_order():
    broken = [GO, turn("model", call("a"), call("b"), call("c")), turn("user", answer("b", "real"))]

    items, kinds = mended("gemini", broken)

    assert kinds == ["missing", "missing"]
    lost = {"error": INTERRUPTED}
    assert items[2] == turn(
        "user",
        {"functionResponse": {"name": "a", "response": lost}},
        answer("b", "real"),
        {"functionResponse": {"name": "c", "response": lost}},
    )


@pytest.mark.proves("H1")
def test_responses_are_put_into_the_order_of_their_calls():
    broken = [GO, turn("model", call("a"), call("b")), turn("user", answer("b"), answer("a"))]

    items, kinds = mended("gemini", broken)

    assert set(kinds) == {"moved"}
    assert items[2] == turn("user", answer("a"), answer("b"))


@pytest.mark.proves("H3")
def test_with_ids_the_order_of_responses_is_free():
    messages = [
        *[GO, turn("model", call("a", "1"), call("a", "2"))],
        turn("user", answer("a", "y", "2"), answer("a", "x", "1")),
    ]

    assert mended("gemini", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_a_response_under_another_name_takes_that_of_its_call():
    items, kinds = mended("gemini", [GO, turn("model", call("a")), turn("user", answer("x:a"))])

    assert (items[2], kinds) == (turn("user", answer("a")), ["matched"])


@pytest.mark.proves("H1")
def test_what_stands_between_call_and_response_is_joined_behind_it():
    broken = [
        GO,
        turn("model", call("a")),
        turn("user", {"text": "wait"}),
        turn("user", answer("a")),
    ]

    items, kinds = mended("gemini", broken)

    assert kinds[0] == "moved"
    assert items == [GO, turn("model", call("a")), turn("user", answer("a"), {"text": "wait"})]


@pytest.mark.proves("H1")
def test_turns_of_one_role_in_a_row_are_joined():
    said = {"text": "x", "thoughtSignature": "s"}

    items, kinds = mended("gemini", [GO, GO, turn("model", said), turn("model", {"text": "y"})])

    assert kinds == ["merged", "merged"]
    assert items == [
        turn("user", {"text": "go"}, {"text": "go"}),
        turn("model", said, {"text": "y"}),
    ]


@pytest.mark.proves("H1")
def test_a_call_at_the_very_start_gets_a_turn_of_the_user_before_it():
    items, kinds = mended("gemini", [turn("model", call("a")), turn("user", answer("a"))])

    assert kinds == ["tail"]
    assert items[0] == turn("user", {"text": "(the beginning of this conversation is not shown)"})


@pytest.mark.proves("H1")
@pytest.mark.parametrize(
    ("response", "wrapped"),
    [("text", {"result": "text"}), ([1], {"result": [1]}), (None, {"result": None})],
)
def test_a_response_that_is_no_object_is_wrapped(response, wrapped):
    given_ = {"functionResponse": {"name": "a", "response": response}}

    items, kinds = mended("gemini", [GO, turn("model", call("a")), turn("user", given_)])

    assert kinds == ["content"]
    assert items[2] == turn("user", {"functionResponse": {"name": "a", "response": wrapped}})


@pytest.mark.proves("H1")
@pytest.mark.parametrize("empty", [{"text": ""}, {"text": "", "thought": True}, {}])
def test_a_part_that_holds_nothing_is_taken_out(empty):
    items, kinds = mended("gemini", [GO, turn("model", empty, {"text": "x"}), GO])

    assert (items, kinds) == ([GO, turn("model", {"text": "x"}), GO], ["blank"])


@pytest.mark.proves("H3", "H4")
def test_an_empty_text_with_a_signature_and_white_space_stay():
    messages = [GO, turn("model", {"text": " "}, {"text": "", "thoughtSignature": "s"}), GO]

    assert mended("gemini", messages) == (messages, [])


@pytest.mark.proves("H1")
def test_an_empty_turn_of_the_user_says_so_and_one_of_the_model_goes():
    items, kinds = mended(
        "gemini", [GO, turn("model"), GO, turn("model", {"text": "x"}), turn("user")]
    )

    assert kinds == ["empty", "empty", "merged"]
    assert items[0] == turn("user", {"text": "go"}, {"text": "go"})
    assert items[2] == turn("user", {"text": "(no content)"})


@pytest.mark.proves("H1", "H4")
def test_a_lost_signature_is_owned_up_to_where_others_are_signed():
    signed = call("a", thoughtSignature="s")
    step = [turn("model", signed, call("b")), turn("user", answer("a"), answer("b"))]
    lost = [turn("model", call("a"), call("b")), turn("user", answer("a"), answer("b"))]

    items, kinds = mended("gemini", [GO, *step, *lost])

    assert kinds == ["signature"]
    assert items[1:3] == step
    first = call("a", thoughtSignature="skip_thought_signature_validator")
    assert items[3] == turn("model", first, call("b"))


@pytest.mark.proves("H3")
def test_without_any_signature_none_is_missing():
    messages = [GO, turn("model", call("a")), turn("user", answer("a"))]

    assert mended("gemini", messages) == (messages, [])
    assert mended("gemini", messages, model="gemini-2.5-pro") == (messages, [])


@pytest.mark.proves("H1")
def test_a_model_that_signs_its_calls_wants_every_first_one_signed():
    messages = [GO, turn("model", call("a")), turn("user", answer("a"))]

    items, kinds = mended("gemini", messages, model="gemini-3-pro")

    assert kinds == ["signature"]
    assert items[1]["parts"][0]["thoughtSignature"] == "skip_thought_signature_validator"


@pytest.mark.proves("H1")
@pytest.mark.parametrize("asked", [{}, {"name": ""}, {"name": None}, {"id": "q"}], ids=str)
@pytest.mark.parametrize("given_", [{}, {"name": ""}, {"name": "x"}, None], ids=str)
def test_a_call_without_a_name_gets_a_result_without_one(asked, given_):
    messages = [GO, turn("model", {"functionCall": {**asked, "args": {}}})]
    if given_ is not None:
        messages.append(turn("user", {"functionResponse": {**given_, "response": {"a": 1}}}))

    items, _ = mended("gemini", messages)

    answered = items[2]["parts"][0]["functionResponse"]
    assert not answered.get("name")
    said = {"error": INTERRUPTED} if given_ is None else {"a": 1}
    assert answered["response"] == said


@pytest.mark.proves("H1")
def test_the_other_spelling_is_mended_in_its_own_spelling():
    asked = {"function_call": {"name": "a", "args": {}}}
    given_ = {"function_response": {"name": "x", "response": {"a": 1, "b": 2}}}

    items, _ = mended("gemini", [GO, turn("model", asked), turn("user", given_)])

    assert items[2] == turn(
        "user", {"function_response": {"name": "a", "response": {"a": 1, "b": 2}}}
    )
