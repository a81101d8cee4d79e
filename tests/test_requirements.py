import pytest

from tests.requirements import MarkError, Proof, Rule, all_proofs, load, page, problems, proofs_in

HELD = Rule("R1", "It holds.", "Results")
LATER = Rule("R2", "It will hold.", "Results", pending="comes later")


def test_rules_and_tests_agree():
    found = problems(load(), all_proofs())

    assert not found, "\n".join(found)


def test_no_requirement_is_dropped():
    numbered = {"R": 16, "S": 10, "K": 10, "H": 13, "A": 7, "G": 6, "P": 25}
    presets = ["default", "ethos", "claude_code", "chatcli", "delta", "vtcode"]
    commands = [
        "trim",
        "run",
        "read",
        "check",
        "repair",
        "prepare",
        "count",
        "presets",
        "explain",
        "store",
    ]

    assert sorted(rule.id for rule in load()) == sorted(
        [f"0.{n}" for n in range(1, 8)]
        + [f"{letter}{n}" for letter, last in numbered.items() for n in range(1, last + 1)]
        + [f"PRE-{name}" for name in presets]
        + [f"C-{name}" for name in commands]
    )


def test_an_id_without_a_test_is_a_problem():
    assert problems([HELD], []) == ["R1 is proved by no test: It holds."]


def test_an_unknown_id_is_a_problem():
    assert problems([], [Proof("X9", "tests/test_a.py", "test_a")]) == [
        "tests/test_a.py: test_a proves 'X9', which requirements.toml does not list"
    ]


def test_a_pending_id_that_is_proved_is_a_problem():
    assert problems([LATER], [Proof("R2", "tests/test_a.py", "test_a")]) == [
        "R2 is proved; take its pending mark out of requirements.toml"
    ]


def test_a_pending_id_without_a_test_is_no_problem():
    assert problems([LATER], []) == []


def test_marks_count_on_a_test_on_its_parameters_and_for_a_whole_file():
    source = """
import pytest
pytestmark = [pytest.mark.proves("P1")]
@pytest.mark.proves("R1", "R2")
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.proves("R3"))])
def test_a(n): ...
async def test_b(): ...
"""
    assert {(proof.id, proof.test) for proof in proofs_in(source, "tests/test_a.py")} == {
        ("P1", "test_a"),
        ("R1", "test_a"),
        ("R2", "test_a"),
        ("R3", "test_a"),
        ("P1", "test_b"),
    }


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("@mark.proves('R1')\ndef lines(): ...", "t.py:1: this mark stands on no test"),
        ("@mark.proves(RULE)\ndef test_a(): ...", "t.py:1: ids are written out, not computed"),
        (
            "@mark.proves()\ndef test_a(): ...",
            "t.py:1: a mark names at least one id, and nothing else",
        ),
    ],
)
def test_a_mark_that_proves_nothing_is_refused(source, message):
    with pytest.raises(MarkError) as raised:
        proofs_in(source, "t.py")

    assert str(raised.value) == message


def test_the_page_lists_each_rule_with_its_proofs():
    proofs = [Proof("R1", "tests/test_a.py", "test_it_holds")] * 2

    bare = Rule("R3", "Nobody looks.", "Results")

    assert page([HELD, LATER, bare], proofs).splitlines()[4:] == [
        "3 requirements: 1 proved, 1 pending.",
        "",
        "## Results",
        "",
        "| id | what must hold | proved by |",
        "| --- | --- | --- |",
        "| R1 | It holds. | [tests/test_a.py](../tests/test_a.py): it holds |",
        "| R2 | It will hold. | *pending: comes later* |",
        "| R3 | Nobody looks. | **no test** |",
    ]
