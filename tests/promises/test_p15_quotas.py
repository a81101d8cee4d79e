"""P15: quotas hold under an endless producer; P9 and P14 while retention removes."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from headgate import Gate, Policy, tokens
from headgate.errors import RefGone, RefNotFound, StoreError
from headgate.events import Removed, SpillCut
from headgate.retention import Retention
from headgate.spill.compress import compress
from headgate.spill.local import LocalStore
from tests.spill.housing import HOUR, Clock, on_disk
from tests.spill.keeping import keep

LIMITS = Retention(
    age_s=48 * 3_600,
    live_s=6 * 3_600,
    result_bytes=60_000,
    session_bytes=100_000,
    session_count=12,
    total_bytes=150_000,
    total_count=18,
    free_bytes=None,
)
NAMES = ("one", "two", "three")
SIZES = st.sampled_from([1, 500, 9_000, 30_000, 59_999, 60_001, 90_000])


class House(RuleBasedStateMachine):
    """Three sessions on one small store, each with a history, and all refs that were ever shown."""

    shown = Bundle("shown")

    def __init__(self) -> None:
        super().__init__()
        self.state = Path(tempfile.mkdtemp()) / "state"
        self.clock = Clock()
        self.stores = {name: self.open(name) for name in NAMES}
        self.content: dict[tuple[str, str], bytes] = {}
        self.made = 0

    def open(self, name: str) -> LocalStore:
        return LocalStore(self.state, name, retention=LIMITS, clock=self.clock)

    def teardown(self) -> None:
        shutil.rmtree(self.state.parent)

    @rule(target=shown, name=st.sampled_from(NAMES), size=SIZES, text=st.booleans())
    def show(self, name: str, size: int, text: bool) -> tuple[str, str]:
        self.made += 1
        word = (b"%06d line of a log\n" if text else b"\xff%06d\x00") % self.made
        content = (word * (size // len(word) + 1))[:size]
        self.clock.now_ns += HOUR // 7
        about = keep(self.stores[name], content, call_id=f"c{self.made % 5}")
        assert about.length == min(size, 60_000)
        assert about.full_length == (size if size > 60_000 else None)
        self.content[name, about.ref] = content[: about.length]
        return name, about.ref

    @rule(name=st.sampled_from(NAMES), hours=st.integers(1, 60))
    def wait_and_send_a_history(self, name: str, hours: int) -> None:
        self.clock.now_ns += hours * HOUR
        refs = [ref for owner, ref in self.content if owner == name][-2:]
        self.stores[name].refer([b"%d" % self.made], frozenset(refs))

    @rule(name=st.sampled_from(NAMES))
    def restart(self, name: str) -> None:
        self.stores[name] = self.open(name)

    @rule(name=st.sampled_from(NAMES))
    def put_in_order(self, name: str) -> None:
        self.stores[name].house.sweep(LIMITS)
        list(compress(self.stores[name].house, LIMITS))

    @rule(name=st.sampled_from(NAMES))
    def begin_and_give_up(self, name: str) -> None:
        writer = self.stores[name].writer(call_id="c", tool="t")
        writer.write(b"x" * 40_000)
        with pytest.raises(StoreError, match="the bytes have sha256"):
            writer.commit("r_aaaaaaaaaaaa", "00" * 32)

    @rule(ref=shown, who=st.sampled_from(NAMES))
    def ask(self, ref: tuple[str, str], who: str) -> None:
        name, shown = ref
        if who != name:
            with pytest.raises(RefNotFound) as caught:
                self.stores[who].read(shown, 0, 9)
            answer = f"no result '{shown}' in this session; it may have expired"
            assert (type(caught.value), str(caught.value)) == (RefNotFound, answer)
            return
        if shown in self.stores[name].shelf.objects.refs():
            assert self.stores[name].read(shown, 0, 1 << 30) == self.content[name, shown]
            return
        with pytest.raises(RefGone, match=f"result '{shown}' is gone: removed 20"):
            self.stores[name].read(shown, 0, 1 << 30)

    @invariant()
    def no_limit_is_passed(self) -> None:
        assert on_disk(self.state) <= 150_000
        for name in NAMES:
            objects = self.state / "sessions" / name / "objects"
            refs = {path.name[:14] for path in objects.glob("r_*")}
            assert len(refs) <= 12
            assert sum(path.stat().st_size for path in objects.glob("r_*")) <= 100_000


@pytest.mark.proves("P15", "P9", "P14", "K4")
def test_no_limit_is_ever_passed_and_every_ref_resolves_or_has_a_tombstone():
    run_state_machine_as_test(
        House, settings=settings(max_examples=settings.default.max_examples // 12)
    )


@pytest.mark.proves("P15", "K4", "K9")
def test_a_stream_without_end_is_kept_up_to_the_quota_and_its_marker_says_so(tmp_path):
    events: list[object] = []
    retention = Retention(session_bytes=3_000_000, free_bytes=None)
    policy = Policy(result=tokens(500), batch=None, retention=retention)
    gate = Gate(policy, state=tmp_path / "state", hooks=[events.append])
    stream = gate.stream("call_1", "yes")
    for i in range(400):
        stream.write(b"%07d line of an endless command\n" % i * 2_000)
        if i % 40 == 0:
            assert on_disk(tmp_path / "state") <= 3_000_000

    shown = stream.close()

    assert "kept up to byte 3,000,000, nothing after it" in shown.text
    [cut] = [event for event in events if isinstance(event, SpillCut)]
    assert (cut.kept_bytes, cut.length_bytes) == (3_000_000, 400 * 2_000 * 35)
    ref = shown.verdict.ref
    assert shown.verdict.fate == "spilled"
    assert len(gate.original(ref)) == 3_000_000
    last = gate.read(ref, {"lines": "85715-"})
    assert "kept up to byte 3,000,000, nothing after it" in last


@pytest.mark.proves("P15", "P9", "K4")
def test_results_without_end_push_out_the_oldest_and_each_leaves_a_tombstone(tmp_path):
    events: list[object] = []
    retention = Retention(session_bytes=400_000, free_bytes=None)
    policy = Policy(result=tokens(200), batch=None, retention=retention)
    gate = Gate(policy, state=tmp_path / "state", hooks=[events.append])
    refs = []
    for i in range(60):
        stream = gate.stream(f"call_{i}", "bash")
        stream.write(b"%07d of the output\n" % i * 2_000)
        refs.append(stream.close().verdict.ref)
        assert on_disk(tmp_path / "state") <= 400_000

    assert gate.original(refs[-1])[:7] == b"0000059"
    told = gate.read_result("call_x", {"ref": refs[0]})
    assert told.is_error
    assert "is gone: removed 20" in told.text
    assert sum(event.count for event in events if isinstance(event, Removed)) >= 50


def killed(work) -> None:
    """Run `work` in a fork that kills itself at its end."""
    child = os.fork()
    if child == 0:
        work()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.proves("P15", "P10")
def test_what_killed_producers_left_never_adds_up(tmp_path):
    retention = Retention(total_bytes=500_000, free_bytes=None)
    store = LocalStore(tmp_path / "state", "s", retention=retention)

    def produce() -> None:
        mine = LocalStore(tmp_path / "state", "s", retention=retention)
        writer = mine.writer(call_id="c", tool="t")
        writer.write(os.urandom(300_000))

    for _ in range(5):
        killed(produce)
        assert on_disk(tmp_path / "state") <= 500_000
    about = keep(store, b"x" * 400_000)
    assert about.length == 400_000
    assert on_disk(tmp_path / "state") == 400_000
