from headgate.doctor.check import ODD, Check, big_text, judged

SENT = big_text()


def arrived(text: str) -> dict[str, bool]:
    return {check.name: check.ok for check in judged("codex", "hook", text, SENT, 8_000)}


def test_what_arrived_short_whole_and_readable_is_well(tmp_path):
    file = tmp_path / "r_a.txt"
    file.write_text(SENT)

    found = judged(
        "codex", "hook", f"[9 lines omitted; the whole is in {file} #k7q2]\n{ODD}", SENT, 99
    )

    assert [check.ok for check in found] == [True, True, True]
    assert found[2] == Check("codex", "hook", "read back", True, f"every byte is in {file}")


def test_what_arrived_as_it_was_is_wrong():
    assert arrived(SENT) == {"shortened": False}


def test_what_is_over_the_limit_or_lost_the_line_that_matters_is_wrong():
    assert arrived(SENT[: len(SENT) // 3]) == {
        "shortened": False,
        "kept": False,
        "read back": False,
    }


def test_a_file_that_is_gone_or_not_whole_is_wrong(tmp_path):
    gone = f"{ODD} the whole is in {tmp_path}/gone.txt #k7q2]"
    part = tmp_path / "part.txt"
    part.write_text(SENT[:-1])

    assert arrived(gone)["read back"] is False
    assert arrived(f"{ODD} the whole is in {part} #k7q2]")["read back"] is False
