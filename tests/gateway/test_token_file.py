import os

import pytest

from headgate.errors import StoreError
from headgate.gateway.token_file import token_in


def test_a_token_is_made_once_in_a_private_file(tmp_path):
    before = os.umask(0)
    try:
        token = token_in(tmp_path / "token")
    finally:
        os.umask(before)

    assert len(token) == 43
    assert token_in(tmp_path / "token") == token
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600


def test_a_token_of_the_operators_own_is_taken(tmp_path):
    path = tmp_path / "token"
    path.touch(mode=0o600)
    path.write_text("  my-own-token-of-32-letters-0123\n")

    assert token_in(path) == "my-own-token-of-32-letters-0123"


def test_a_token_that_others_can_read_is_refused(tmp_path):
    token_in(tmp_path / "token")
    (tmp_path / "token").chmod(0o640)

    with pytest.raises(StoreError, match="can be read by others; chmod 600 it"):
        token_in(tmp_path / "token")


@pytest.mark.parametrize("written", [b"a/b" * 10, b"caf\xe9" * 10, b"a\nb" * 10])
def test_a_token_that_cannot_stand_in_a_header_or_a_path_is_refused(tmp_path, written):
    path = tmp_path / "token"
    path.touch(mode=0o600)
    path.write_bytes(written)

    with pytest.raises(StoreError, match="other characters"):
        token_in(path)


def test_a_token_is_not_written_through_a_link(tmp_path):
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError):
        token_in(tmp_path / "token")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(StoreError):
        token_in(tmp_path / "no" / "token")
