import stat

import pytest

from headgate import compiled
from headgate.scan import Scanner
from headgate.shape.signs import SIGNS


@pytest.fixture
def fresh(monkeypatch):
    """Scanners that nobody has used yet, in the place of those of this process."""

    def make() -> list[Scanner]:
        found = [Scanner([b"needle", b"^hay"]), Scanner([pattern for pattern, _ in SIGNS[:3]])]
        monkeypatch.setattr(compiled, "scanners", lambda: iter(found))
        return found

    return make


def test_what_one_process_compiled_the_next_takes_from_the_state_folder(state, fresh):
    [first, other] = fresh()
    assert first.hits(b"a needle", 9) == [(0, 8)]
    compiled.keep(state)

    [again, never] = fresh()
    compiled.restore(state)

    assert (again.is_compiled, never.is_compiled) == (True, False)
    assert again.hits(b"hay\na needle", 9) == first.hits(b"hay\na needle", 9) == [(1, 3), (0, 12)]
    assert not other.is_compiled


def test_it_is_kept_privately(state, fresh):
    fresh()[0].first(b"x")
    compiled.keep(state)

    [file] = (state / "compiled").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("at", [0, 40, 5_000, -1])
def test_a_damaged_form_is_not_taken(state, fresh, at):
    fresh()[0].first(b"x")
    compiled.keep(state)
    [file] = (state / "compiled").iterdir()
    content = bytearray(file.read_bytes())
    content[at % len(content)] ^= 1
    file.write_bytes(content)

    [again, _] = fresh()
    compiled.restore(state)

    assert not again.is_compiled
    assert again.hits(b"a needle", 9) == [(0, 8)]


def test_bytes_that_are_no_compiled_form_are_refused(fresh):
    [scanner, _] = fresh()

    assert scanner.restore(b"nonsense") is False
    assert scanner.hits(b"a needle", 9) == [(0, 8)]


def test_other_patterns_have_other_names():
    keys = {Scanner([b"a"]).key, Scanner([b"b"]).key, Scanner([b"a", b"b"]).key}

    assert len(keys) == 3
    assert Scanner([b"a"]).key in keys


def test_without_a_state_folder_nothing_happens(state, fresh):
    [scanner, _] = fresh()
    compiled.restore(state)
    compiled.keep(state)

    assert not scanner.is_compiled
    assert not state.exists()


def test_every_scanner_of_the_package_is_found():
    assert [type(scanner) for scanner in compiled.scanners()] == [Scanner] * 3


def test_what_had_to_be_compiled_is_kept_in_the_end(state, fresh):
    [first, _] = fresh()
    with compiled.patterns_of(state):
        first.first(b"x")

    [again, _] = fresh()
    with compiled.patterns_of(state):
        assert again.is_compiled
