"""Conversations that grow turn by turn, as strategies that the promises about histories share."""

from hypothesis import strategies as st

from headgate.testing import lines
from tests.histories import DIALECTS, KEYS, body, round_of, said, user

sizes = st.sampled_from([1, 3, 30, 90, 250])


@st.composite
def steps(draw, dialect: str, number: int) -> list[dict]:
    """What one step of a conversation adds: parallel calls with results, or words."""
    width = draw(st.integers(0, 3))
    if width == 0:
        return said(dialect, f"so far {number}") + user(dialect, f"go on {number}")
    texts = [lines(draw(sizes), n1=f"step {number} result {i}") for i in range(width)]
    if draw(st.booleans()):
        texts[-1] = texts[0]
    tool = draw(st.sampled_from(["grep", "bash", "Read"]))
    return round_of(dialect, number, *texts, tool=tool)


@st.composite
def growing(draw) -> tuple[str, list[bytes], list[int]]:
    """A dialect, the requests of a conversation in order, and how many messages each has."""
    dialect = draw(st.sampled_from(DIALECTS))
    messages = user(dialect, "begin")
    bodies: list[bytes] = []
    counts: list[int] = []
    for number in range(draw(st.integers(2, 6))):
        messages = messages + draw(steps(dialect, number))
        bodies.append(body(dialect, messages, model="gpt-4o"))
        counts.append(len(messages))
    return dialect, bodies, counts


def key_of(dialect: str) -> str:
    return KEYS[dialect]
