import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

import headgate

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    [built] = folder.glob("*.whl")
    with zipfile.ZipFile(built) as opened:
        yield opened


def metadata(wheel) -> Message:
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


def dependencies(wheel) -> set[str]:
    """Names of what is installed along with the core; an extra's are not."""
    wanted = metadata(wheel).get_all("Requires-Dist", [])
    return {re.split(r"[^\w.-]", line)[0] for line in wanted if "extra ==" not in line}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    kept = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "headgate").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    dist_info = f"headgate-{headgate.__version__}.dist-info"
    inside = {name for name in wheel.namelist() if not name.startswith(dist_info)}
    assert inside == kept
    assert "headgate/py.typed" in inside


def test_the_wheel_runs_nothing_when_python_starts(wheel):
    assert [name for name in wheel.namelist() if name.endswith(".pth")] == []


def test_the_licence_is_in_the_wheel(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith("/licenses/LICENSE")]

    assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()
    assert metadata(wheel)["License-Expression"] == "Apache-2.0"


def test_the_core_needs_six_small_packages(wheel):
    assert dependencies(wheel) == {
        "google-re2",
        "hyperscan",
        "msgspec",
        "regex",
        "splintr-rs",
        "xxhash",
    }


def test_the_version_of_the_wheel_is_the_one_the_package_names(wheel):
    assert metadata(wheel)["Version"] == headgate.__version__


def test_the_wheel_brings_the_command(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith("/entry_points.txt")]

    assert wheel.read(name).decode().split("\n")[:2] == [
        "[console_scripts]",
        "headgate = headgate.cli:main",
    ]


def test_every_dependency_says_what_it_is_for():
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    named = tomllib.loads("\n".join(lines))["project"]["dependencies"]

    assert len(named) <= 6
    for dependency in named:
        [line] = [line for line in lines if f'"{dependency}"' in line]
        assert re.search(r"# \w+", line), line


def test_every_public_name_can_be_loaded():
    import headgate

    assert all(getattr(headgate, name) is not None for name in headgate.__all__)
    assert sorted(headgate.__all__) == sorted({*headgate._MODULES, "__version__"})
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        headgate.nothing  # noqa: B018  # looking is what fails
