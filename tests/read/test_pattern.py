import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import RequestError
from headgate.read.pattern import pattern_of

pytestmark = pytest.mark.proves("K6", "P17")


@pytest.mark.parametrize(
    ("text", "ignores_case"),
    [
        ("error", True),
        ("Error", False),
        (r"\S+ \W \D \PL \pL \p{Greek} \x4A \x{4AB}", True),
        (r"(?P<Name>a)", True),
        (r"\bÉtat", False),
        ("état", True),
    ],
)
def test_a_pattern_without_capitals_ignores_case(text, ignores_case):
    assert pattern_of(text).ignores_case is ignores_case


def test_case_is_ignored_beyond_ascii():
    assert pattern_of("état").search("L'ÉTAT".encode(), 0, 7) == (2, 7)


def test_a_match_stays_in_its_line():
    data = b"one\ntwo\n"

    assert pattern_of("^two$").search(data, 0, 8) == (4, 7)
    assert pattern_of(r"e.t").search(data, 0, 8) is None
    assert pattern_of(r"e[^x]t").search(data, 0, 8) is None
    assert pattern_of(r"(?s)e.t").search(data, 0, 8) is None
    assert pattern_of(r"e\nt").search(data, 0, 8) is None


def test_what_stands_before_the_start_counts_as_context():
    data = b"xfoo foo"

    assert pattern_of(r"\bfoo").search(data, 1, 8) == (5, 8)
    assert pattern_of("^foo").search(data, 1, 8) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", "missing ): ("),
        ("a)|(b", "unexpected ): a)|(b"),
        ("*", "no argument for repetition operator: *"),
        ("(?=a)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("a{1001}", "invalid repetition size: {1001}"),
        ("[z-a]", "invalid character class range: z-a"),
        (r"\pL{1,1000}", "pattern too large - compile failed"),
        ("\ud800", "it is no valid Unicode"),
    ],
)
def test_a_bad_pattern_is_answered_with_the_reason(text, reason, capfd):
    with pytest.raises(RequestError) as raised:
        pattern_of(text)

    said = str(raised.value)
    assert f", which cannot be used: {reason}; it takes an RE2 pattern" in said
    assert capfd.readouterr() == ("", "")


def test_of_a_long_pattern_that_is_bad_the_start_is_repeated():
    with pytest.raises(RequestError) as raised:
        pattern_of("(" + "a" * 900)

    assert str(raised.value).startswith('search is "(' + "a" * 78 + "…, which cannot be used: ")


def test_a_pattern_that_would_crawl_is_refused():
    with pytest.raises(RequestError, match="too large a pattern; repeat less in it"):
        pattern_of(r"(\pL{1,100}){1,3}")


@given(st.text(max_size=40) | st.text(alphabet="ab()[]{}|*+?.^$\\,012<>:=!PpLz-", max_size=40))
def test_any_pattern_compiles_or_is_refused_in_one_line(text):
    try:
        found = pattern_of(text).search(b"abc 012\nxyz", 0, 11)
    except RequestError as error:
        said = str(error)
    else:
        said = ""
        assert found is None or 0 <= found[0] <= found[1] <= 11
    assert "\n" not in said
    assert len(said) < 500
