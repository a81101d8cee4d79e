import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.dialects import dialect_named
from headgate.history.chain import canonical, chain
from tests.histories import DIALECTS, body, round_of, said, user

MARK = {"cache_control": {"type": "ephemeral"}}


def links(dialect: str, messages: list[dict], **more: object) -> list[bytes]:
    return chain(dialect_named(dialect).read(body(dialect, messages, **more)))


@pytest.mark.proves("0.2")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_longer_history_has_the_links_of_the_shorter_one(dialect):
    story = user(dialect, "a") + round_of(dialect, 1, "x")
    longer = story + said(dialect, "b") + user(dialect, "c")

    assert links(dialect, longer)[: len(story) + 1] == links(dialect, story)


@pytest.mark.proves("0.2")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_another_beginning_is_another_conversation(dialect):
    story = round_of(dialect, 1, "x")
    one, two = (links(dialect, user(dialect, text) + story) for text in ("a", "b"))

    assert one[0] == two[0]
    assert not set(one[1:]) & set(two)


@pytest.mark.proves("0.2")
def test_cache_marks_and_the_form_of_a_text_do_not_matter():
    plain = user("anthropic", "a") + round_of("anthropic", 1, "x")
    block = [{"role": "user", "content": [{"type": "text", "text": "a", **MARK}]}]
    results = json.loads(json.dumps(plain[2]))
    results["content"][0].update(MARK)

    assert links("anthropic", [*block, plain[1], results]) == links("anthropic", plain)


@pytest.mark.proves("0.2")
@pytest.mark.parametrize(
    ("name", "block"),
    [("system", {"type": "text", "text": "Be brief."}), ("tools", {"name": "ls"})],
)
def test_cache_marks_on_system_and_tools_do_not_matter(name, block):
    plain, marked = (
        links("anthropic", user("anthropic", "a"), **{name: [{**block, **mark}, {"name": "b"}]})
        for mark in ({}, MARK)
    )

    assert plain == marked


@pytest.mark.proves("0.2")
def test_system_and_tools_are_part_of_the_prefix():
    story = user("anthropic", "a")

    assert links("anthropic", story, system="one")[0] != links("anthropic", story, system="two")[0]
    assert links("anthropic", story, tools=[])[0] != links("anthropic", story)[0]


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.proves("0.2")
@given(values)
def test_the_same_value_in_other_bytes_is_the_same(value):
    forms = {
        json.dumps(value),
        json.dumps(value, indent=1),
        json.dumps(value, ensure_ascii=False, sort_keys=True),
    }

    assert len({canonical(form.encode()) for form in forms}) == 1


@pytest.mark.parametrize("raw", [b'"\\ud800"', b"[NaN]", b"[" * 100_000 + b"]" * 100_000])
def test_what_strict_json_does_not_know_speaks_for_itself(raw):
    assert canonical(raw) == raw
