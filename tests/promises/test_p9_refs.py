"""P9: every ref that was ever shown resolves, whatever happened to the index meanwhile."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test

from headgate.spill.local import LocalStore
from tests.spill.keeping import keep, session_path


class Shown(RuleBasedStateMachine):
    """Two processes on one session, an index that is damaged, and the refs that were shown."""

    refs = Bundle("refs")

    def __init__(self) -> None:
        super().__init__()
        self.state = Path(tempfile.mkdtemp())
        self.stores = [LocalStore(self.state, "s"), LocalStore(self.state, "s")]
        self.content: dict[str, bytes] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.state)

    @property
    def index(self) -> Path:
        return session_path(self.state, "s") / "index"

    @rule(target=refs, who=st.integers(0, 1), content=st.binary(max_size=40))
    def show(self, who: int, content: bytes) -> str:
        about = keep(self.stores[who], content, call_id=f"c{len(content)}")
        self.content[about.ref] = content
        return about.ref

    @rule(who=st.integers(0, 1))
    def restart(self, who: int) -> None:
        self.stores[who] = LocalStore(self.state, "s")

    @rule(part=st.floats(0, 1))
    def cut_the_index(self, part: float) -> None:
        if self.index.exists():
            os.truncate(self.index, int(self.index.stat().st_size * part))

    @rule(part=st.floats(0, 0.99))
    def zero_a_byte_of_the_index(self, part: float) -> None:
        if self.index.exists():
            content = bytearray(self.index.read_bytes())
            at = int(len(content) * part)
            content[at : at + 1] = bytes(len(content[at : at + 1]))
            self.index.write_bytes(content)

    @rule()
    def lose_the_index(self) -> None:
        self.index.unlink(missing_ok=True)

    @rule(who=st.integers(0, 1), ref=refs)
    def ask(self, who: int, ref: str) -> None:
        content = self.content[ref]
        about = self.stores[who].about(ref)
        assert (about.length, self.stores[who].read(ref, 0, 99)) == (len(content), content)
        assert about.file is not None
        assert Path(about.file).is_file()

    @rule(who=st.integers(0, 1))
    def list_all(self, who: int) -> None:
        assert {about.ref for about in self.stores[who].all()} == set(self.content)


@pytest.mark.proves("P9", "P12", "K3")
def test_every_ref_ever_shown_resolves_in_every_process():
    run_state_machine_as_test(
        Shown, settings=settings(max_examples=settings.default.max_examples // 4)
    )
