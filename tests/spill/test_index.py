from dataclasses import replace
from pathlib import Path

import msgspec

from headgate.disk import Folder
from headgate.journal import Journal
from headgate.spill.index import Again, Index, Kept
from headgate.types import About

KEPT = Kept(
    ref="r_aaaaaaaaaaaa",
    sha256=b"\xab" * 32,
    length=300_000,
    lines=7,
    chunk_bytes=262_144,
    chunk_lines=(4, 2),
    sums=b"12345678abcdefgh",
    call_id=b"c1",
    tool=b"grep",
    time_ns=5,
    file=b"r_aaaaaaaaaaaa.txt",
)

ABOUT = About(
    ref="r_aaaaaaaaaaaa",
    sha256="ab" * 32,
    length=300_000,
    lines=7,
    call_id="c1",
    tool="grep",
    time_ns=5,
    chunk_bytes=262_144,
    chunk_lines=(4, 2),
    file="/files/r_aaaaaaaaaaaa.txt",
)


def index_in(folder: Path) -> Index:
    return Index(Journal(Folder(folder) / "index"), "/files")


def test_what_is_added_is_found_by_every_process(tmp_path):
    ours, theirs = index_in(tmp_path), index_in(tmp_path)
    assert ours.find("r_aaaaaaaaaaaa") is None

    theirs.note(KEPT)
    assert theirs.about(KEPT) == ABOUT

    assert ours.find("r_aaaaaaaaaaaa") == KEPT
    assert ours.about(KEPT) == ABOUT
    assert ours.find("r_bbbbbbbbbbbb") is None


def test_a_call_that_brought_the_same_again_is_listed_with_its_own_file(tmp_path):
    index = index_in(tmp_path)
    index.note(KEPT)

    line = Again("r_aaaaaaaaaaaa", b"c2", b"read", 9, b"/work/c2.txt")
    index.note(line)
    again = index.about(line)

    assert again == replace(ABOUT, call_id="c2", tool="read", time_ns=9, file="/work/c2.txt")
    other = index_in(tmp_path)
    assert other.all() == [KEPT]
    assert other.about(other.listed("r_aaaaaaaaaaaa", b"c2", b"read")) == again
    assert other.about(other.listed("r_aaaaaaaaaaaa", KEPT.call_id, KEPT.tool)) == ABOUT


def test_a_call_and_a_file_are_known_by_what_they_brought(tmp_path):
    index = index_in(tmp_path)
    index.note(KEPT)

    assert index.listed("r_aaaaaaaaaaaa", b"c1", b"grep") == KEPT
    assert index.listed("r_aaaaaaaaaaaa", b"c2", b"grep") is None
    assert index.owner(b"r_aaaaaaaaaaaa.txt") == "r_aaaaaaaaaaaa"
    assert index.owner(b"c2.txt") is None


def test_an_original_without_a_file_says_so(tmp_path):
    index = index_in(tmp_path)

    line = msgspec.structs.replace(KEPT, file=b"")
    index.note(line)
    assert index.about(line).file is None


def test_a_later_line_for_a_ref_replaces_the_earlier(tmp_path):
    index = index_in(tmp_path)
    index.note(KEPT)
    index.note(msgspec.structs.replace(KEPT, file=b"", time_ns=8))

    [found] = index_in(tmp_path).all()
    assert (found.file, found.time_ns) == (b"", 8)


def test_fields_and_lines_of_a_later_version_are_passed_over(tmp_path):
    later = [*msgspec.msgpack.decode(msgspec.msgpack.encode(KEPT)), "one field more"]
    Journal(Folder(tmp_path) / "index").append(
        lambda _: [msgspec.msgpack.encode(["gone", 1]), msgspec.msgpack.encode(later)]
    )

    assert index_in(tmp_path).all() == [KEPT]
