"""P14: no session learns content, size or existence of another's refs."""

import os

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headgate.errors import RefNotFound
from headgate.spill.local import LocalStore
from headgate.spill.private import session_folder
from tests.spill.keeping import keep

ANY_NAME = st.text(max_size=20) | st.sampled_from(["s", "S", "a/b", "../s", "..", "", "s\0", "s "])


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


def answers(store: LocalStore, ref: str) -> list[tuple[str, str]]:
    """What a session is told of a ref, with the ref itself taken out."""
    told = []
    for act in (store.about, lambda ref: store.read(ref, 0, 1), lambda ref: store.read(ref, 9, 3)):
        with pytest.raises(RefNotFound) as caught:
            act(ref)
        told.append((type(caught.value).__name__, str(caught.value).replace(repr(ref), "REF")))
    return told


@pytest.mark.proves("P14", "K7")
@given(one=ANY_NAME, other=ANY_NAME, content=st.binary(max_size=50))
@settings(max_examples=settings.default.max_examples // 2)
def test_a_foreign_ref_and_an_unknown_one_look_alike(state, one, other, content):
    assume(one != other)
    theirs = keep(LocalStore(state, one), content)
    ours = LocalStore(state, other)
    if content:
        keep(ours, content[1:])

    told = answers(ours, theirs.ref)

    assert told == answers(ours, "r_aaaaaaaaaaaa")
    assert set(told) == {("RefNotFound", "no result REF in this session; it may have expired")}
    assert theirs.ref not in [about.ref for about in ours.all()]


@pytest.mark.proves("P14", "K7", "0.3")
def test_the_same_content_has_another_ref_in_every_session(state):
    refs = {keep(LocalStore(state, f"same-{i}"), b"the same").ref for i in range(20)}

    assert len(refs) == 20


@pytest.mark.proves("P14")
def test_the_same_content_in_two_sessions_is_not_shared_on_disk(state):
    one, other = (keep(LocalStore(state, name), b"not shared") for name in ("disk-1", "disk-2"))

    assert os.stat(one.file).st_ino != os.stat(other.file).st_ino


@pytest.mark.proves("P14", "K7")
@pytest.mark.parametrize(
    "ref",
    [
        "",
        "r_",
        "r_1f3a9c7be20d",
        "R_AAAAAAAAAAAA",
        "r_aaaaaaaaaaaa\n",
        " r_aaaaaaaaaaaa",
        "../../other/objects/r_aaaaaaaaaaaa",
        "..%2Fr_aaaaaaaaaaaa",
        "/etc/passwd",
        "r_aaaaaaaaaaa\0",
        "index",
        ".",
        "\ud800",
    ],
)
def test_what_is_no_ref_gets_the_same_answer(state, ref):
    store = LocalStore(state, "malformed")
    keep(store, b"text")

    assert answers(store, ref) == answers(store, "r_aaaaaaaaaaaa")


@pytest.mark.proves("P14", "P24")
@given(ref=st.text(max_size=64))
def test_any_text_that_is_asked_for_gets_the_same_answer(state, ref):
    store = LocalStore(state, "any-text")

    assert answers(store, ref) == answers(store, "r_aaaaaaaaaaaa")


def test_the_answer_to_a_huge_ref_is_short(state):
    with pytest.raises(RefNotFound) as caught:
        LocalStore(state, "huge").about("r_" + "a" * 65_536)

    assert str(caught.value) == (f"no result 'r_{'a' * 62}…' in this session; it may have expired")


@pytest.mark.proves("P14")
@given(one=ANY_NAME, other=ANY_NAME)
def test_no_session_has_its_folder_in_anothers(state, one, other):
    assume(one != other)
    paths = [session_folder(state, name).path for name in (one, other)]

    assert {os.path.dirname(path) for path in paths} == {f"{state}/sessions"}
    assert paths[0] != paths[1]


@pytest.mark.proves("P14")
def test_a_name_that_breaks_out_stays_in(tmp_path):
    keep(LocalStore(tmp_path / "state", "../../../escaped"), b"text")

    assert [path.name for path in tmp_path.iterdir()] == ["state"]
