import json

import pytest

from headgate.check import check
from headgate.cli import main
from headgate.measure.meters import meter_for
from headgate.presets import PRESETS
from headgate.testing import lines
from tests.histories import body, round_of, user

O200K = meter_for("o200k", "tokens")


@pytest.fixture
def run(state, tmp_path, capfdbinary):
    """What a command prints for an input."""

    def command(*words, text=""):
        path = tmp_path / "input"
        path.write_text(text)
        assert main([*words, str(path)]) == 0
        return capfdbinary.readouterr().out.decode().removesuffix("\n")

    return command


@pytest.mark.proves("C-trim")
@pytest.mark.parametrize("name", list(PRESETS))
def test_a_limit_of_the_flag_is_in_o200k_under_every_preset(run, name):
    shown = run("trim", "--preset", name, "--tokens", "200", text=lines(2_000))

    assert 0.5 * 200 < O200K.count(shown) <= 200


@pytest.mark.proves("C-trim")
@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("value", [list(range(3_000)), {f"k{n}": "v" * n for n in range(300)}])
def test_json_within_a_limit_of_the_flag(run, name, value):
    shown = run("trim", "--preset", name, "--chars", "2000", text=json.dumps(value))

    assert len(shown) <= 2_000


@pytest.mark.proves("C-trim")
@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("ethos", "\n[truncated — 98,886 chars total]"),
        ("claude_code", "\n...\n</persisted-output>"),
        ("chatcli", " kept]"),
        ("delta", 'Full length: 98886 chars (~24722 tokens)."}'),
        ("vtcode", " INFO worker 2941 is fine"),
    ],
)
def test_without_a_limit_the_presets_own_hold(run, name, ends):
    assert run("trim", "--preset", name, text=lines(2_941)).endswith(ends)


@pytest.mark.proves("C-prepare", "P6")
@pytest.mark.parametrize("name", list(PRESETS))
def test_a_history_is_ready_to_send_under_every_preset(run, name):
    history = user("anthropic", "go") + round_of("anthropic", 1, lines(9_000), "", lines(20))

    sent = run(
        "prepare", "--preset", name, text=body("anthropic", history, model="claude-opus-5").decode()
    )

    assert not check(sent.encode(), dialect="anthropic")
