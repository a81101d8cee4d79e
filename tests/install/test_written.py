import stat
from dataclasses import replace
from pathlib import Path

import pytest

from headgate import RequestError
from headgate.install import written
from headgate.install.plan import Change, Plan, Site, text_of


@pytest.fixture
def site(tmp_path):
    return Site(home=tmp_path, program="/opt/headgate", state=tmp_path / "state")


def planned(path: Path, after: str) -> Plan:
    return Plan((Change(path, text_of(path), after),))


def undo(site, client="codex", mode="hook"):
    undone = written.undoing(site.state, client, mode)
    written.undo(undone, site.state, client, mode)
    return undone


def test_what_stood_there_is_kept_privately_and_put_back_exactly(site, tmp_path):
    file = tmp_path / "settings.json"
    file.write_bytes(b'{"a":1}\r\n')
    file.chmod(0o640)

    folder = written.write(planned(file, "{}\n"), site, "codex", "hook")

    assert file.read_bytes() == b"{}\n"
    assert (folder / "1-settings.json").read_bytes() == b'{"a":1}\r\n'
    assert stat.S_IMODE((folder / "1-settings.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert written.installed(site.state, "codex") == ["hook"]
    undo(site)
    assert file.read_bytes() == b'{"a":1}\r\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert written.installed(site.state, "codex") == []


def test_a_new_file_is_private_and_goes_away_again(site, tmp_path):
    file = tmp_path / "new" / "hooks.json"

    written.write(planned(file, "{}\n"), site, "codex", "hook")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    undo(site)
    assert not file.exists()


def test_a_link_to_a_file_stays_a_link(site, tmp_path):
    real, link = tmp_path / "dotfiles", tmp_path / "settings.json"
    real.write_text("old")
    link.symlink_to(real)

    written.write(planned(link, "new"), site, "codex", "hook")

    assert link.is_symlink()
    assert real.read_text() == "new"


def test_installed_twice_is_undone_to_the_first_start(site, tmp_path):
    file = tmp_path / "f"
    file.write_text("start\n")
    written.write(planned(file, "once\n"), site, "codex", "hook")
    written.write(planned(file, "twice\n"), site, "codex", "hook")

    undo(site)

    assert file.read_text() == "start\n"


def test_what_the_user_changed_since_stays(site, tmp_path):
    file = tmp_path / "f"
    file.write_text("a\nb\n")
    written.write(planned(file, "a\nours\nb\n"), site, "codex", "hook")
    file.write_text("a\nours\nb\ntheirs\n")

    undo(site)

    assert file.read_text() == "a\nb\ntheirs\n"


def test_lines_that_cannot_be_found_are_stuck_and_the_backup_stays(site, tmp_path):
    file = tmp_path / "f"
    file.write_text("a\n")
    written.write(planned(file, "a\nours\n"), site, "codex", "hook")
    file.write_text("something else\n")

    undone = undo(site)

    assert [change.path for change in undone.stuck] == [file]
    assert file.read_text() == "something else\n"
    assert written.installed(site.state, "codex") == ["hook"]


def test_a_file_the_user_removed_is_not_brought_back(site, tmp_path):
    file = tmp_path / "f"
    written.write(planned(file, "ours\n"), site, "codex", "hook")
    file.unlink()

    undo(site)

    assert not file.exists()
    assert written.installed(site.state, "codex") == []


def test_a_file_that_changed_after_the_diff_was_shown_is_not_overwritten(site, tmp_path):
    file = tmp_path / "f"
    file.write_text("a\n")
    plan = planned(file, "ours\n")
    file.write_text("theirs\n")

    with pytest.raises(RequestError, match="changed by somebody else meanwhile"):
        written.write(plan, site, "codex", "hook")

    assert file.read_text() == "theirs\n"


def test_ways_are_listed_in_the_order_they_were_installed(site, tmp_path):
    written.write(planned(tmp_path / "f", "1"), site, "codex", "mcp")
    written.write(planned(tmp_path / "g", "2"), replace(site, preset="x"), "codex", "hook")

    assert written.installed(site.state, "codex") == ["mcp", "hook"]
    record = written.record_of(site.state, "codex", "hook")
    assert record is not None
    assert (record.gateway, record.preset) == ("http://127.0.0.1:8787", "x")


def test_what_was_never_installed_cannot_be_undone(site):
    with pytest.raises(RequestError, match="codex is not installed as mcp"):
        written.undoing(site.state, "codex", "mcp")


def test_folders_that_were_made_go_with_the_last_file_in_them(site, tmp_path):
    (tmp_path / "conf").mkdir()
    file = tmp_path / "conf" / "agent" / "plugins" / "ours.js"
    written.write(planned(file, "1"), site, "codex", "hook")
    written.write(planned(file, "2"), site, "codex", "hook")

    undo(site)

    assert list((tmp_path / "conf").iterdir()) == []


def test_folders_that_others_made_or_use_stay(site, tmp_path):
    (tmp_path / "plugins").mkdir()
    written.write(planned(tmp_path / "plugins" / "ours.js", "1"), site, "codex", "hook")
    written.write(planned(tmp_path / "new" / "ours.js", "1"), site, "codex", "mcp")
    (tmp_path / "new" / "theirs.js").write_text("x")

    undo(site)
    undo(site, mode="mcp")

    assert list((tmp_path / "plugins").iterdir()) == []
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["theirs.js"]


def test_settings_that_their_cli_wrote_anew_lose_ours_alone(site, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text('{\n  "model": "opus"\n}\n')
    written.write(planned(file, '{\n  "model": "opus",\n  "ours": 1\n}\n'), site, "codex", "hook")
    file.write_text('{\n  "ours": 1,\n  "model": "sonnet"\n}\n')

    assert undo(site).stuck == ()

    assert file.read_text() == '{\n  "model": "sonnet"\n}\n'
    assert written.installed(site.state, "codex") == []


def test_a_file_made_for_us_goes_though_it_was_written_anew(site, tmp_path):
    file = tmp_path / "settings.json"
    written.write(planned(file, '{\n  "ours": 1\n}\n'), site, "codex", "hook")
    file.write_text('{"ours":1}')

    undo(site)

    assert not file.exists()


def test_what_was_taken_out_by_hand_is_out(site, tmp_path):
    file = tmp_path / "settings.json"
    file.write_text('{"a": 1}')
    written.write(planned(file, '{"a": 1, "ours": 1}'), site, "codex", "hook")
    file.write_text('{"a": 2}')

    assert undo(site) == written.Undoing((), ())

    assert file.read_text() == '{"a": 2}'


def test_a_line_of_ours_goes_though_the_lines_next_to_it_are_others(site, tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('model = "m"\n\n[tools]\n')
    written.write(planned(file, 'model = "m"\nours = 1\n\n[tools]\n'), site, "codex", "hook")
    file.write_text('model = "n"\nours = 1\ntheirs = 2\n\n[tools]\n')

    undo(site)

    assert file.read_text() == 'model = "n"\ntheirs = 2\n\n[tools]\n'
