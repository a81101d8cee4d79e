import os
import subprocess
import sys

import msgspec
import pytest

from headgate.disk import Folder
from headgate.history.calibrate import Observation, observe, uncalibrated
from headgate.history.calibration_file import FILE_NAME, CalibrationFile
from headgate.history.makeup import Makeup
from headgate.journal import Journal
from headgate.measure.models import counted_as
from tests.faults import file_size_limit

pytestmark = pytest.mark.proves("A4")

MODEL = "claude-opus-5"

WRITER = """
import sys
from headgate.disk import Folder
from headgate.history.calibrate import Observation
from headgate.history.calibration_file import FILE_NAME, CalibrationFile
from headgate.history.makeup import Makeup

kept = CalibrationFile(Folder(sys.argv[1]) / FILE_NAME, folded_at=30)
for number in range(25):
    seen = Observation(Makeup(tokens=1_000 + number, bytes=4_000), 1_700)
    kept.learn("claude-opus-5", seen, time_ns=int(sys.argv[2]) * 1_000 + number)
"""


def seen(number=0):
    return Observation(Makeup(tokens=1_000 + number, bytes=4_000, digits=10 * number), 1_700)


def folded(count):
    known = uncalibrated(counted_as(MODEL))
    for number in range(count):
        known = observe(known, seen(number))
    return known


@pytest.fixture
def file(state):
    return Folder(state, "the state folder") / FILE_NAME


def test_what_was_learnt_survives_a_restart(file):
    kept = CalibrationFile(file)
    for number in range(20):
        kept.learn(MODEL, seen(number), time_ns=number)

    assert CalibrationFile(file).of(MODEL) == kept.of(MODEL) == folded(20)


def test_a_model_nobody_has_heard_of_has_the_tables_word(file):
    assert CalibrationFile(file).of("gpt-5") == uncalibrated(counted_as("gpt-5"))
    assert not os.path.exists(file.path)


def test_models_are_told_apart_and_known_by_all_their_names(file):
    kept = CalibrationFile(file)
    kept.learn("us.anthropic.claude-opus-5", seen(), time_ns=1)
    kept.learn("gpt-5", seen(), time_ns=2)

    assert kept.of("anthropic/claude-opus-5").observations == 1
    assert kept.of("gpt-5").multiplier == 1.0


def test_equal_observations_count_each(file):
    kept = CalibrationFile(file)
    for number in range(3):
        kept.learn(MODEL, seen(), time_ns=number)

    assert CalibrationFile(file).of(MODEL).observations == 3


def test_many_processes_learn_together(state, file):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(state), str(number)])
        for number in range(4)
    ]
    mine = CalibrationFile(file)
    mine.of(MODEL)

    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert mine.of(MODEL).observations == 100
    assert CalibrationFile(file).of(MODEL) == mine.of(MODEL)


def test_many_observations_are_put_together_and_nothing_is_forgotten(file):
    other = CalibrationFile(file)
    kept = CalibrationFile(file, folded_at=10)
    for number in range(35):
        kept.learn(MODEL, seen(number), time_ns=number)
        assert other.of(MODEL).observations == number + 1

    records = Journal(file).catch_up()

    assert len(records) == 1 + 5
    assert CalibrationFile(file).of(MODEL) == kept.of(MODEL) == other.of(MODEL) == folded(35)


def test_a_full_disk_is_told_once_and_learning_goes_on_in_memory(file):
    kept = CalibrationFile(file)
    kept.learn(MODEL, seen(0), time_ns=0)
    with file_size_limit(os.path.getsize(file.path)):
        kept.learn(MODEL, seen(1), time_ns=1)
        kept.learn(MODEL, seen(2), time_ns=2)

    assert file.path in kept.take_failure()
    assert kept.take_failure() is None
    assert kept.of(MODEL) == folded(3)
    kept.learn(MODEL, seen(3), time_ns=3)
    assert CalibrationFile(file).of(MODEL).observations == 2


def test_a_disk_too_full_to_put_together_still_takes_observations(file):
    kept = CalibrationFile(file, folded_at=2)
    os.makedirs(file.folder.path, mode=0o700)
    kept.learn(MODEL, seen(0), time_ns=0)
    with file_size_limit(os.path.getsize(file.path) + 100):
        kept.learn(MODEL, seen(1), time_ns=1)

    assert kept.take_failure() is None
    assert CalibrationFile(file).of(MODEL).observations == 2
    assert os.listdir(file.folder.path) == [FILE_NAME]


def test_a_torn_tail_costs_the_last_observation(file):
    kept = CalibrationFile(file)
    for number in range(5):
        kept.learn(MODEL, seen(number), time_ns=number)
    os.truncate(file.path, os.path.getsize(file.path) - 3)

    assert CalibrationFile(file).of(MODEL) == folded(4)


def test_records_of_a_later_version_and_unsound_ones_are_left_alone(file):
    kept = CalibrationFile(file)
    kept.learn(MODEL, seen(), time_ns=0)
    strange = [
        msgspec.msgpack.encode(["pricing", MODEL, 3]),
        msgspec.msgpack.encode(["observed", MODEL]),
        b"\xc1",
        msgspec.msgpack.encode(["learnt", MODEL, [1.5, False, [1.0], [], []]]),
    ]
    Journal(file).append(lambda _: strange)

    assert CalibrationFile(file).of(MODEL) == kept.of(MODEL) == folded(1)


def test_the_file_is_private(file):
    CalibrationFile(file).learn(MODEL, seen(), time_ns=0)

    assert os.stat(file.path).st_mode & 0o777 == 0o600
    assert os.stat(file.folder.path).st_mode & 0o777 == 0o700


def test_a_name_that_is_no_unicode_is_a_name(file):
    CalibrationFile(file).learn("odd-\ud800", seen(), time_ns=0)

    assert CalibrationFile(file).of("odd-\ud800").observations == 1


def test_models_not_heard_of_for_long_are_forgotten_first():
    kept = CalibrationFile()
    for number in range(300):
        kept.learn(f"model-{number}", seen(), time_ns=number)
        kept.learn("model-0", seen(), time_ns=1_000 + number)

    assert kept.of("model-0").observations == 301
    assert kept.of("model-1").observations == 0
    assert kept.of("model-299").observations == 1
