import pytest

from headgate.shape.finds import by_file, by_folder
from tests.shape.shown import shaped


def test_each_file_shows_a_hit_before_one_shows_a_second():
    lines = ["a.py:1:x", "a.py:2:x", "a.py:3:def f():", "b.py:9:x", "b.py-10-y"]

    assert [*by_file(lines)] == [2, 3, 0, 4, 1]


@pytest.mark.proves("S4")
def test_hits_of_every_file_are_shown():
    hits = [f"src/module_{i // 40}.py:{i}:    value = compute({i})" for i in range(800)]
    shown = shaped("search", "\n".join(hits), 1_500)

    assert all(f"src/module_{i}.py:" in shown for i in range(20))


@pytest.mark.proves("S4")
def test_what_a_linter_found_has_its_rarest_codes_first():
    found = ["a.py:1:2: W0511: todo", "a.py:7:0: W0511: todo", "a.py:8: E1101: no member"]
    lines = ["* Module a", *found, "b.py:9:1: W0212: private", "b.py:9:9: W0212: private"]

    assert [*by_file(lines)] == [3, 1, 4, 2, 5]


def test_hits_that_speak_of_codes_here_and_there_are_hits():
    lines = ["a.py:1:x", "a.py:2:x", "b.py:3: E1101", "b.py:4:y", "c.py:1:z"]

    assert [*by_file(lines)] == [0, 2, 4, 1, 3]


@pytest.mark.proves("S4")
def test_an_entry_unlike_all_others_is_shown():
    entries = [f"./src/package_{i // 50}/module_{i}.py" for i in range(2_000)]
    entries[1_111] = "./.cache/left.so"
    shown = shaped("listing", "\n".join(entries), 600)

    assert "./src/package_0/module_0.py" in shown
    assert "./.cache/left.so" in shown


@pytest.mark.proves("S4")
@pytest.mark.parametrize(
    ("usual", "largest"),
    [
        ("{i}K\t./src/part_{i}", "1.5G\t./build/cache"),
        ("-rw-r--r-- 1 me us {i} Nov 15 10:00 file_{i}", "-rw-r--r-- 1 me us 99999 Nov 15 10:00 x"),
    ],
)
def test_the_largest_entry_is_shown_to_who_asks_for_it(usual, largest):
    entries = [usual.format(i=100 + i % 50) for i in range(900)]
    entries[500] = largest
    text = "\n".join(entries)

    assert largest in shaped("listing", text, 300, "largest", "file")
    assert "./1.2.3/" in shaped("listing", f"1.2.3 ./1.2.3/\n{text}", 300, "largest")


def test_folders_take_turns():
    assert [*by_folder(["a/1.c", "a/2.c", "b/3.c", "b/4.c"])] == [0, 2, 1, 3]


def test_an_ending_is_of_the_name_and_not_of_a_folder_or_a_hidden_file():
    entries = [f"./v1.{i}/{name}" for i in range(3) for name in ("a.py", "b.py", "README", ".env")]

    assert next(by_folder([*entries, "./v1.0/c.so", "./v1.0/d.py"])) == 12
    assert next(by_folder([*entries, "./v1.0/c.py"])) == 0


@pytest.mark.proves("S4")
def test_a_hit_that_was_asked_for_is_shown_before_one_of_each_file():
    hits = [f"src/module_{i // 4}.py:{i}:    value = compute({i})" for i in range(800)]
    hits[402] = "src/module_100.py:402:    value = refresh_token(402)"
    shown = shaped("search", "\n".join(hits), 400, "refresh_token")

    assert hits[402] in shown
