import hashlib

import pytest

from headgate import Json, Media, Policy, Text, ToolResult
from headgate.arrive import arrive, identify, query_of
from headgate.measure.meters import meter_for
from headgate.testing import result
from headgate.types import Query

METER = meter_for("o200k", "tokens")
POLICY = Policy()
IMAGE = Media("image", {"type": "image", "source": {"data": "AAAA" * 10_000}})


def arrived(made: ToolResult):
    return arrive(identify(made), POLICY, METER)


@pytest.mark.proves("R1")
def test_a_string_and_a_block_of_it_arrive_alike():
    of_text, of_block = (
        arrived(result("t", "a\nb", call_id="1")),
        arrived(result("t", [Text("a\nb")], call_id="1")),
    )

    assert (of_text.text, of_text.identity.digest, of_text.size) == (
        of_block.text,
        of_block.identity.digest,
        of_block.size,
    )


@pytest.mark.proves("R1")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None]}, b'{"a": [1, null]}'),
        ([1, "x"], b'[1, "x"]'),
        (7, b"7"),
        (True, b"true"),
        ("text", b"text"),
        (b"bytes", b"bytes"),
        (memoryview(b"bytes"), b"bytes"),
        (Json("[1]"), b"[1]"),
    ],
)
def test_every_value_a_tool_returns_arrives_as_text(value, text):
    assert arrived(result("t", value)).text == text


@pytest.mark.proves("R1", "S3")
def test_who_knows_what_a_text_is_can_say_so():
    assert ToolResult.of("t", "1 2 3", call_id="call_1", kind="table").kind == "table"


@pytest.mark.proves("R1")
def test_all_text_blocks_are_kept_each_on_a_line_of_its_own():
    several = arrived(result("t", [Text("a"), IMAGE, Text("b\n"), Text("c")]))

    assert (several.original, several.identity.media) == (b"a\nb\nc", 1)


@pytest.mark.proves("R2")
def test_an_image_is_never_measured_by_its_base64():
    assert arrived(result("t", [Text("see"), IMAGE])).size.tokens == 1


@pytest.mark.proves("R3")
@pytest.mark.parametrize("blank", ["", "  \n\t ", None, b"", []])
def test_a_blank_result_becomes_a_line_that_names_the_tool(blank):
    shown = arrived(result("grep", blank)).text

    assert shown in (b"(grep finished without output)", b"[]")
    assert shown == b"(grep finished without output)" or blank == []


@pytest.mark.proves("R4")
def test_the_original_keeps_every_byte_that_normalising_changes():
    coloured = arrived(result("bash", b"\x1b[31mred\x1b[0m\r\n\xff"))

    assert coloured.original == b"\x1b[31mred\x1b[0m\r\n\xff"
    assert coloured.text == b"red\n\\xff"
    assert coloured.sha256 == hashlib.sha256(coloured.original).hexdigest()
    assert coloured.changed


@pytest.mark.proves("0.4")
def test_a_file_reader_keeps_its_exact_text():
    assert arrived(result("Read", "a\r\n\x1b[31mb")).text == b"a\r\n\x1b[31mb"


@pytest.mark.proves("R4")
def test_a_lone_surrogate_arrives_and_is_shown_as_an_escape():
    lone = arrived(result("bash", "a\ud800b"))

    assert lone.text == b"a\\ud800b"
    assert lone.original.decode("utf-8", "surrogatepass") == "a\ud800b"


def test_clean_text_is_not_copied():
    clean = arrived(result("bash", "clean text\n"))

    assert clean.text is clean.original
    assert not clean.changed


def test_an_error_and_a_success_of_the_same_text_are_told_apart():
    assert identify(result("t", "x")).digest != identify(result("t", "x", is_error=True)).digest


def test_other_media_make_another_result():
    other = Media("image", {"source": {"data": "BBBB"}})

    assert (
        identify(result("t", [Text("x"), IMAGE])).digest
        != identify(result("t", [Text("x"), other])).digest
    )


@pytest.mark.proves("S4")
def test_what_a_question_names_literally_is_part_of_the_query():
    asked = query_of(result("q", "x"), POLICY, 'Give the rows: Flood,1954 | "Mass movement",1903')

    assert asked.phrases == ("give the rows", "flood,1954", "mass movement")


@pytest.mark.proves("S4")
def test_the_query_is_what_the_call_and_the_user_ask_for():
    call = result("grep", "x", arguments={"pattern": "replica_lag.*SLO", "path": "src"})

    assert query_of(call, POLICY, "why is the database slow?") == Query(
        ("replica_lag", "database", "slow", "slo"), names=frozenset({"replica_lag"})
    )


def test_names_of_programs_are_told_from_words_of_a_sentence():
    asked = query_of(
        result("q", "x"), POLICY, "where does checkException or res.cookie of max_age go in JSON?"
    )

    assert asked.names == {"checkexception", "res.cookie", "max_age"}


def test_two_letters_may_name_something_but_not_if_they_are_a_word_of_every_sentence():
    asked = query_of(result("q", "x"), POLICY, "how is it on the VW, or in my PR?")

    assert asked.words == ("pr", "vw")
