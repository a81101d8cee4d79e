import sys

import pytest

from headgate.errors import DeclarationError
from headgate.registry.docstring import Described, described


def plain():
    """Finds lines.

    Returns them in order: the first one first.
    """


def google():
    """Finds lines.

    Looks everywhere.

    Args:
        pattern: What to
            look for.
        path (str): Where.

    Returns:
        The lines.
    """


def numpy():
    """Finds lines.

    Looks everywhere.

    Parameters
    ----------
    pattern : str
        What to look for.
    path : str
        Where.
    """


def sphinx():
    """Finds lines.

    Looks everywhere.

    :param pattern: What to look for.
    :param path: Where.
    """


def silent(): ...


def test_a_docstring_without_sections_is_the_description():
    assert described(plain) == Described(
        "Finds lines.\n\nReturns them in order: the first one first.", {}
    )
    assert described(silent) == Described("", {})


@pytest.mark.proves("G1")
@pytest.mark.parametrize("style", [google, numpy, sphinx])
def test_what_is_said_of_arguments_is_told_of_each(style):
    assert described(style) == Described(
        "Finds lines.\n\nLooks everywhere.",
        {"pattern": "What to look for.", "path": "Where."},
    )


def test_sections_without_the_extra_are_refused_with_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "docstring_parser", None)

    assert described(plain).text.startswith("Finds lines.")
    with pytest.raises(DeclarationError, match="pip install 'headgate\\[registry\\]'"):
        described(google)
