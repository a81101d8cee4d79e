from headgate.doctor.hooks import checks, switched_off
from tests.install.sites import site


def test_a_file_that_cannot_be_read_is_named():
    [check] = checks("claude-code", site({".claude/settings.json": "{broken"}))

    assert not check.ok
    assert check.says == "/home/u/.claude/settings.json: the file is no JSON: line 1 has 'broken'"


def test_settings_with_comments_are_not_read_by_claude_code():
    of = site({".claude/settings.json": "{} // mine", ".gemini/settings.json": "{} // mine"})

    assert switched_off("claude-code", of).startswith(
        "/home/u/.claude/settings.json: line 1 is no plain JSON"
    )
    assert switched_off("gemini", of) == ""
