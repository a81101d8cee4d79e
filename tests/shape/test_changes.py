import pytest

from headgate.shape.changes import commits, files
from tests.shape.shown import shaped


def diff(count: int) -> str:
    parts = []
    for i in range(count):
        parts += [f"diff --git a/f{i}.py b/f{i}.py", f"--- a/f{i}.py", f"+++ b/f{i}.py"]
        parts += ["@@ -1,40 +1,40 @@", *(f"-old {i} {j}\n+new {i} {j}" for j in range(40))]
    return "\n".join(parts)


def test_files_come_before_hunks():
    assert [*files(diff(2).split("\n"))] == [0, 84, 3, 87]


def test_files_are_known_by_their_new_names_where_nothing_else_names_them():
    plain = [line for line in diff(2).split("\n") if not line.startswith("diff ")]

    assert [*files(plain)] == [1, 84, 2, 85]


def test_what_became_of_a_file_comes_after_all_names():
    renamed = [
        "diff --git a/x b/y",
        "rename from x",
        "rename to y",
        "diff --git a/z b/z",
        "@@ -1 @@",
    ]

    assert [*files(renamed)] == [0, 3, 1, 2, 4]


@pytest.mark.proves("S4")
def test_every_file_of_a_diff_is_named_where_that_takes_little():
    shown = shaped("diff", diff(8), 2_000)

    assert all(f"diff --git a/f{i}.py b/f{i}.py" in shown for i in range(8))


@pytest.mark.proves("S4")
def test_the_files_of_a_diff_are_shown_and_what_the_query_points_at():
    shown = shaped("diff", diff(30), 2_000, "f17.py")

    assert "diff --git a/f17.py b/f17.py" in shown
    assert "+new 0 0" in shown
    assert "+new 29 39" in shown


@pytest.mark.proves("S4")
def test_the_subjects_of_commits_are_shown_before_what_they_changed():
    log = "\n".join(
        f"commit {i:040x}\nAuthor: A <a@b>\nDate: today\n\n    Subject {i}\n\n{diff(1)}\n"
        for i in range(20)
    )
    shown = shaped("git-log", log, 1_500)

    assert all(f"    Subject {i}" in shown for i in range(20))
    assert [*commits(log.split("\n"))][:2] == [4, 95]


@pytest.mark.proves("S4")
def test_what_changed_in_a_file_that_the_query_names_is_shown_as_a_whole():
    parts = {
        name: [f"diff --git a/src/{name}.py b/src/{name}.py", f"+++ b/src/{name}.py", "@@ -1 +1 @@"]
        + [f"-    {name}[{i}]\n+    {name}.get({i})" for i in range(12)]
        for name in ("cart", "order", "tax", "mail", "stock", "store")
    }
    text = "\n".join("\n".join(lines) for lines in parts.values())

    assert "\n".join(parts["tax"]) in shaped("diff", text, 400, "changed", "tax.py")
