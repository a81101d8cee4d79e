from headgate.doctor.hooks import checks
from tests.install.sites import site


def test_a_file_that_cannot_be_read_is_named():
    [check] = checks("claude-code", site({".claude/settings.json": "{broken"}))

    assert not check.ok
    assert check.says == "/home/u/.claude/settings.json: the file is no JSON: line 1 has 'broken'"
