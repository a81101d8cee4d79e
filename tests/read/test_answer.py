import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import RequestError
from headgate.gate import Gate
from headgate.marker import Marker, MarkerStyle
from headgate.testing import result
from tests.read.originals import LEAST, MARKER, ask, meters, odd_bytes, original

numbers = st.integers(0, 4_000)
spans = (
    st.tuples(numbers, numbers).map(lambda ends: f"{min(ends) + 1}-{max(ends) + 1}")
    | numbers.map(lambda first: f"{first + 1}-")
    | numbers.map(lambda count: f"-{count + 1}")
)
patterns = st.sampled_from(["a", "error", "^", "$", ".*", "x+", r"\w+", "[^a]", "日", "k7q2"])
paths = st.sampled_from(["$", "$[*]", "$..*", "$.a", "$[0]", "$[1:]"])
requests = (
    st.just({})
    | spans.map(lambda span: {"lines": span})
    | spans.map(lambda span: {"bytes": span})
    | st.tuples(numbers, numbers).map(lambda page: {"page": page[0], "page_size": page[1]})
    | patterns.map(lambda pattern: {"search": pattern})
    | st.tuples(patterns, spans).map(lambda both: {"search": both[0], "lines": both[1]})
    | st.tuples(patterns, spans).map(lambda both: {"search": both[0], "bytes": both[1]})
    | paths.map(lambda path: {"path": path})
)
markers = st.sampled_from(
    [
        MARKER,
        Marker("k7q2", "r_1f3a9c7be20d", session="s" * 64, style=MarkerStyle(reader="cli")),
        Marker("k7q2", "r_1f3a9c7be20d", path="/tmp/x", style=MarkerStyle(reader="file")),
        Marker("k7q2", "r_1f3a9c7be20d", kept="partly", kept_bytes=1_000),
    ]
)
structured = st.recursive(
    st.integers() | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner),
)


@st.composite
def documents(draw):
    return json.dumps(draw(structured), ensure_ascii=draw(st.booleans())).encode(
        "utf-8", "surrogatepass"
    )


def answer_or_words(*arguments: object, **options: object) -> str:
    try:
        return ask(*arguments, **options)  # type: ignore[arg-type]
    except RequestError as error:
        return str(error)


@pytest.mark.proves("K6", "P2", "P24")
@settings(max_examples=settings.default.max_examples * 2)
@given(odd_bytes | documents(), requests, meters, st.integers(0, 500), st.booleans(), markers)
def test_every_answer_fits_its_limit_and_says_how_to_go_on(data, asked, meter, more, exact, marker):
    kept = original(data, exact=exact)

    text = answer_or_words(kept, asked, meter=meter, limit=LEAST[meter.unit] + more, marker=marker)

    assert text
    text.encode()


@pytest.mark.proves("K6")
@pytest.mark.parametrize(
    "asked", [{}, {"lines": "5-"}, {"bytes": "5-"}, {"page": 2}, {"search": "x"}, {"path": "$"}]
)
def test_of_an_empty_result_there_is_nothing_to_show(asked):
    assert ask(original(b""), asked) == "[the result is empty; this is the end #k7q2]"


@pytest.mark.proves("K6")
def test_where_keeping_stopped_the_end_says_so():
    marker = Marker("k7q2", "r_1f3a9c7be20d", kept="partly", kept_bytes=4)

    text = ask(original(b"a\nb\n"), {}, marker=marker)

    assert text == ("a\nb\n[lines 1-2 of 2 shown; kept up to byte 4, nothing after it #k7q2]")


@pytest.mark.proves("K6", "K7")
def test_through_the_gate_a_result_reads_back_by_its_ref(state):
    gate = Gate(session="mine")
    [shown] = gate.admit([result("bash", "\n".join(f"line {n}" for n in range(1, 50_001)))])
    ref = shown.verdict.ref

    read = gate.read_result("c2", {"ref": ref, "lines": "40001-40002"})

    assert read.text.startswith("line 40001\nline 40002\n[lines 40,001-40,002 of 50,000 shown; ")
    assert (read.is_error, read.origin) == (False, "store")


@pytest.mark.proves("K7", "P14")
def test_a_foreign_ref_and_one_that_never_was_are_answered_alike(state):
    [shown] = Gate(session="mine").admit([result("bash", "secret\n" * 50_000)])
    foreign, unknown = shown.verdict.ref, "r_aaaaaaaaaaaa"
    other = Gate(session="other")

    answers = [other.read_result("c", {"ref": ref, "lines": "1-5"}) for ref in (foreign, unknown)]

    assert [answer.text for answer in answers] == [
        f"no result {ref!r} in this session; it may have expired" for ref in (foreign, unknown)
    ]
    assert all(answer.is_error for answer in answers)


@pytest.mark.proves("0.4")
def test_a_file_that_was_read_comes_back_by_its_exact_text(state):
    gate = Gate()
    text = "".join(f"\tline {n} \u200b\r\n" for n in range(20_000))
    shown = gate.admit([result("read_file", text), result("bash", "ran\n" + text)])

    file, output = [
        gate.read_result("c", {"ref": each.verdict.ref, "lines": line}).text.rpartition("[")[0]
        for each, line in zip(shown, ("7", "8"), strict=True)
    ]

    assert file == "\tline 6 \u200b\r\n"
    assert output == "\tline 6 \\u200b\n"
