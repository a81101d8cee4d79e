import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headgate.install import claude_code, gemini, opencode
from headgate.install.plan import Change
from headgate.install.values import taken_back
from tests.install.sites import site
from tests.install.test_jsonc import objects

FILE = Path("settings.json")


def installed(text: str) -> Change:
    [change] = claude_code.hook(site({".claude/settings.json": text})).changes
    return change


def test_a_hook_goes_though_the_setting_before_it_is_another_one():
    change = installed('{\n  "model": "opus"\n}\n')
    now = change.after.replace('"opus"', '"sonnet"')

    assert taken_back(now, change) == '{\n  "model": "sonnet"\n}\n'


def test_a_hook_goes_though_the_file_was_written_anew():
    change = installed('{"model": "opus"}')
    anew = json.dumps({**json.loads(change.after), "theme": "dark"}, indent=2, sort_keys=True)

    assert json.loads(taken_back(anew, change)) == {"model": "opus", "theme": "dark"}


def test_hooks_of_others_in_the_list_that_was_made_for_ours_stay():
    change = installed("{}")
    now = json.loads(change.after)
    now["hooks"]["PostToolUse"].insert(0, "theirs")

    assert json.loads(taken_back(json.dumps(now), change)) == {"hooks": {"PostToolUse": ["theirs"]}}


def test_a_hook_of_ours_that_somebody_changed_is_left_to_them():
    change = installed("{}")

    assert taken_back(change.after.replace("20", "60"), change) is None


def test_a_setting_of_ours_that_somebody_changed_is_left_to_them():
    change = Change(FILE, '{"url": "theirs", "a": 1}', '{"url": "ours", "a": 1}')

    assert taken_back('{"url": "another", "a": 2}', change) is None
    assert taken_back('{"url": "theirs", "a": 2}', change) == '{"url": "theirs", "a": 2}'
    assert taken_back('{"url": "ours", "a": 2}', change) == '{"url": "theirs", "a": 2}'


def test_what_is_no_json_is_not_taken_back_by_its_values():
    assert taken_back("model = 1\nours = 2\n", Change(FILE, "model = 1\n", "ours = 2\n")) is None
    assert taken_back("{", Change(FILE, "{}", '{"a": 1}')) is None


SERVERS = {
    "mcpServers": {
        "git": {"command": "git-mcp"},
        "far": {"type": "http", "url": "https://h/mcp", "headers": {"K": "v"}},
    },
    "mcp": {"git": {"type": "local", "command": ["git-mcp"]}},
}
PLANS = [
    (client, mode, name)
    for client, name in (
        (claude_code, ".claude/settings.json"),
        (claude_code, ".claude.json"),
        (gemini, ".gemini/settings.json"),
        (opencode, ".config/opencode/opencode.json"),
    )
    for mode in ("hook", "gateway", "mcp")
]


@given(st.sampled_from(PLANS), objects, st.sampled_from([None, 2]))
def test_every_way_in_goes_out_again_by_its_values(plan, others, indent):
    client, mode, name = plan
    before = {**SERVERS, "others": others}
    planned = getattr(client, mode)(site({name: json.dumps(before, indent=indent)}))

    for change in planned.changes:
        if change.path.suffix == ".json" and change.before is not None:
            now = {"new": 1, **json.loads(change.after)}
            back = taken_back(json.dumps(now, indent=1), change)
            assert json.loads(back) == {"new": 1, **before}
