"""A home folder that exists only as texts."""

from pathlib import Path

from headgate.install.plan import Site

HOME = Path("/home/u")


def site(files=None, **options) -> Site:
    """A site whose files are these texts, by their path below the home folder."""
    texts = {HOME / name: text for name, text in (files or {}).items()}
    return Site(
        home=HOME,
        program="/opt/headgate",
        state=Path("/home/u/.local/state/headgate"),
        read=texts.get,
        **options,
    )


def after(plan) -> dict[str, str]:
    """The changed files by their path below the home folder."""
    return {str(change.path.relative_to(HOME)): change.after for change in plan.changes}
