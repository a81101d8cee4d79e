import pytest

from headgate.registry.wording import in_words, line_of, message_of, traceback_of, without_secrets


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def test_an_exception_is_named_with_what_it_says():
    assert in_words(ValueError("no such file")) == "ValueError: no such file"
    assert in_words(ValueError()) == "ValueError"
    assert in_words(KeyError("name")) == "KeyError: 'name'"


def test_notes_and_the_exceptions_of_a_group_are_told():
    noted = ValueError("no such file")
    noted.add_note("while reading /etc/hosts")
    both = ExceptionGroup("two failed", [noted, KeyError("name")])

    assert in_words(both) == (
        "ExceptionGroup: two failed (2 sub-exceptions)\n"
        "ValueError: no such file\n"
        "while reading /etc/hosts\n"
        "KeyError: 'name'"
    )


def test_an_exception_without_words_is_still_named():
    assert message_of(Mute()) == ""
    assert in_words(Mute()) == "Mute"


@pytest.mark.proves("R12")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no address here: key=1", "no address here: key=1"),
        (
            "429 for url 'https://me:pw@host/v1?q=cats&api_key=k1&page=2'",
            "429 for url 'https://[secret]@host/v1?q=cats&api_key=[secret]&page=2'",
        ),
        ("http://host/?X-Amz-Signature=ab%20c#top", "http://host/?X-Amz-Signature=[secret]#top"),
        ("postgres://user:pw@db:5432/app", "postgres://[secret]@db:5432/app"),
        ("https://host/users/@me?token=t", "https://host/users/@me?token=[secret]"),
    ],
)
def test_what_is_secret_in_an_address_is_left_out(text, shown):
    assert without_secrets(text) == shown


def test_a_line_is_the_first_and_not_too_long():
    assert line_of("one\ntwo") == "one"
    assert line_of("x" * 1_000) == "x" * 500 + "…"


def test_a_traceback_says_where_and_no_secrets():
    told = traceback_of(raised(ValueError("https://me:pw@host/")))

    assert "raise error" in told
    assert told.endswith("ValueError: https://[secret]@host/")


def raised(error):
    try:
        raise error
    except ValueError as caught:
        return caught
