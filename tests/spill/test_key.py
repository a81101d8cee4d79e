import os
import stat
import subprocess
import sys

import pytest

from headgate.errors import StoreError
from headgate.spill.key import existing_key, installation_key

ASKING = """
import pathlib, sys
from headgate.spill.key import installation_key

sys.stdin.read(1)
print(installation_key(pathlib.Path(sys.argv[1])).hex())
"""


@pytest.mark.proves("0.3")
def test_the_key_is_made_once_and_found_again(tmp_path):
    key = installation_key(tmp_path / "state")

    assert len(key) == 32
    assert installation_key(tmp_path / "state") == key
    assert installation_key(tmp_path / "other") != key
    assert (tmp_path / "state" / "key").read_bytes() == key
    assert stat.S_IMODE((tmp_path / "state" / "key").stat().st_mode) == 0o600


def test_looking_for_a_key_makes_none(tmp_path):
    assert existing_key(tmp_path / "state") is None
    assert list(tmp_path.iterdir()) == []

    key = installation_key(tmp_path / "state")
    assert existing_key(tmp_path / "state") == key


@pytest.mark.proves("0.3")
def test_processes_that_start_together_agree_on_one_key(tmp_path):
    asking = [
        subprocess.Popen(
            [sys.executable, "-c", ASKING, str(tmp_path / "state")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(8)
    ]
    answers = set()
    for process in asking:
        assert process.stdin is not None
        process.stdin.write(b"x")
        process.stdin.flush()
    for process in asking:
        answers.add(process.communicate(timeout=60)[0])

    assert answers == {installation_key(tmp_path / "state").hex().encode() + b"\n"}
    assert os.listdir(tmp_path / "state") == ["key"]


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_key_of_another_length_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "key").write_bytes(content)

    with pytest.raises(StoreError) as caught:
        installation_key(tmp_path)

    assert str(caught.value) == (
        f"the installation key {tmp_path}/key has not 32 bytes; put back the file it was copied "
        "from, or delete it and lose access to what it named"
    )
    assert (tmp_path / "key").read_bytes() == content


@pytest.mark.proves("P21")
def test_a_key_that_was_copied_is_private_again(tmp_path):
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "key").chmod(0o644)

    assert installation_key(tmp_path) == b"k" * 32
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_key_is_not_read_through_a_symlink(tmp_path):
    (tmp_path / "theirs").write_bytes(b"k" * 32)
    (tmp_path / "key").symlink_to("theirs")

    with pytest.raises(StoreError, match="a symlink stands there; remove it"):
        installation_key(tmp_path)


@pytest.mark.proves("P21")
def test_no_error_shows_the_key(tmp_path):
    (tmp_path / "key").write_bytes(b"secret!!" * 3)

    with pytest.raises(StoreError) as caught:
        installation_key(tmp_path)

    assert "secret" not in str(caught.value)
