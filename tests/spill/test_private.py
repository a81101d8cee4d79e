import os
import pwd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import StoreError
from headgate.spill.private import digest_name, session_folder, session_name, state_folder


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HEADGATE_STATE_DIR": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/headgate"),
        ({"HOME": "/h"}, "/h/.local/state/headgate"),
        (
            {"HEADGATE_STATE_DIR": "", "XDG_STATE_HOME": "", "HOME": "/h"},
            "/h/.local/state/headgate",
        ),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/headgate"),
        ({}, f"{pwd.getpwuid(os.geteuid()).pw_dir}/.local/state/headgate"),
    ],
)
@pytest.mark.proves("K2")
def test_the_state_folder_is_named_outright_or_the_users_own(environ, folder):
    assert str(state_folder(environ)) == folder


def test_a_state_folder_that_depends_on_where_one_stands_is_refused():
    with pytest.raises(StoreError) as caught:
        state_folder({"HEADGATE_STATE_DIR": "here", "HOME": "/h"})

    assert str(caught.value) == "HEADGATE_STATE_DIR is 'here'; give the whole path, from the root"


@pytest.mark.parametrize("name", ["default", "a", "run_7-b", "0" * 64])
def test_a_plain_session_name_is_its_own_folder(name):
    assert session_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Run",
        "a.b",
        "a/b",
        "..",
        "/etc/cron.d/x",
        "../../x",
        "é",
        "a b",
        "0" * 65,
        "\0",
        "\ud800",
    ],
)
def test_any_other_session_name_becomes_a_digest(name):
    assert session_name(name) == digest_name(name)
    assert session_name(name)[0] == "="
    assert len(session_name(name)) == 33


@given(st.text(), st.text())
@pytest.mark.proves("K7", "P14")
def test_two_sessions_never_share_a_folder_even_where_case_does_not_count(one, other):
    same = session_name(one).casefold() == session_name(other).casefold()

    assert same == (one == other)


def test_a_session_is_a_folder_of_the_state_folder(tmp_path):
    assert session_folder(tmp_path, "s1").path == f"{tmp_path}/sessions/s1"
    assert session_folder(tmp_path, "../s1").path == f"{tmp_path}/sessions/{digest_name('../s1')}"
