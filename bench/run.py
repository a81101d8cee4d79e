"""Run every measurement here: `python bench/run.py [NAME ...]`.

A bench is a file `bench_*.py`, or one listed in `ALSO`, with `main(argv)` that prints a table.
Machines differ and are busy, so a bench compares inside one run: it prints ratios to a floor or to
a rival measured beside it, and a bare time only next to one.
"""

import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import requires, version
from pathlib import Path

HERE = Path(__file__).parent

ALSO = ("counts.py", "tokens.py")


def benches() -> dict[str, Path]:
    """Each bench by its name: `bench_admit.py` is `admit`."""
    found = sorted([*HERE.glob("bench_*.py"), *filter(Path.exists, (HERE / name for name in ALSO))])
    return {path.stem.removeprefix("bench_"): path for path in found}


def machine() -> str:
    """What a reader needs to know to place the numbers."""
    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    packages = " ".join(f"{name} {version(name)}" for name in core_packages())
    return "\n".join(
        (
            f"machine   {os.cpu_count()} x {cpu}, {memory_bytes / 2**30:.0f} GiB, "
            f"load {os.getloadavg()[0]:.1f}",
            f"system    {platform.system()} {platform.release()}, "
            f"Python {platform.python_version()}",
            f"packages  headgate {version('headgate')} {packages}",
        )
    )


def core_packages() -> list[str]:
    """The packages the core stands on, whose speed is part of ours."""
    wanted = [line for line in requires("headgate") or [] if "extra ==" not in line]
    return sorted(line.split("<")[0].split(">")[0].split("=")[0].strip() for line in wanted)


def main(argv: Sequence[str]) -> int:
    """Run the benches named in `argv`, or all; 2 where a name is unknown."""
    found = benches()
    unknown = [name for name in argv if name not in found]
    if unknown:
        print(f"bench: no {', '.join(unknown)}; there is {', '.join(found)}", file=sys.stderr)
        return 2
    print(machine())
    for name in argv or found:
        print(f"\n== {name}", flush=True)
        import_module(found[name].stem).main([])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
