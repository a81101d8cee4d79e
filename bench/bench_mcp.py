"""What the MCP proxy adds to a call, beside none and beside fastmcp's own proxy.

    python bench/bench_mcp.py [CALLS]

The same plain server on stdio each time, spoken to in lines. `fastmcp` is `create_proxy` with its
`ResponseLimitingMiddleware`, which cuts and keeps nothing. Times in ms; the machine's load is in
all of them, so compare within a run.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SERVER = [sys.executable, str(Path(__file__).parent.parent / "tests" / "proxy" / "servers.py")]
HEADGATE = str(Path(sys.executable).with_name("headgate"))

FASTMCP = """
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware
proxy = create_proxy(StdioTransport(command=sys.argv[1], args=sys.argv[2:], keep_alive=True))
proxy.add_middleware(ResponseLimitingMiddleware(max_size=32_000))
proxy.run(show_banner=False)
"""

WAYS = {
    "no proxy": SERVER,
    "headgate": [HEADGATE, "mcp", "--", *SERVER],
    "fastmcp": [sys.executable, "-c", FASTMCP, *SERVER],
}
LARGE_LINES = 20_000


class Spoken:
    """A client of plain lines."""

    def __init__(self, command: list[str], state: str) -> None:
        environ = {"HEADGATE_STATE_DIR": state, "FASTMCP_CHECK_FOR_UPDATES": "off", "PATH": "/bin"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )
        self.number = 0

    def ask(self, method: str, **params: object) -> tuple[float, int]:
        """Ask and wait; gives milliseconds and the bytes of the answer."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        assert self.process.stdin
        assert self.process.stdout
        began = time.perf_counter()
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            if json.loads(line).get("id") == self.number:
                return (time.perf_counter() - began) * 1_000, len(line)

    def say(self, method: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method}).encode() + b"\n")
        self.process.stdin.flush()


def measured(command: list[str], calls: int) -> dict[str, float]:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    with tempfile.TemporaryDirectory() as state:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        spoken = Spoken(command, state)
        spoken.ask("initialize", **hello)
        start = (time.perf_counter() - began) * 1_000
        spoken.say("notifications/initialized")
        for _ in range(20):
            spoken.ask("tools/call", name="lines", arguments={"n": 3})
        small = sorted(
            spoken.ask("tools/call", name="lines", arguments={"n": 3})[0] for _ in range(calls)
        )
        spoken.ask("tools/call", name="lines", arguments={"n": LARGE_LINES})
        large = [
            spoken.ask("tools/call", name="lines", arguments={"n": LARGE_LINES + i})
            for i in range(10)
        ]
        memory = Path(f"/proc/{spoken.process.pid}/status").read_text().partition("VmHWM:")[2]
        assert spoken.process.stdin
        spoken.process.stdin.close()
        spoken.process.wait(30)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "start": start,
        "small p50": statistics.median(small),
        "small p99": small[int(len(small) * 0.99)],
        "large p50": statistics.median(ms for ms, _ in large),
        "large KB": large[0][1] / 1_000,
        "peak MB": int(memory.split()[0]) / 1_000,
        "cpu s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def main(argv: Sequence[str]) -> None:
    calls = int(argv[0]) if argv else 300
    rows = {name: measured(command, calls) for name, command in WAYS.items()}
    names = list(next(iter(rows.values())))
    print("".join(["way".ljust(12), *(name.rjust(12) for name in names)]))
    for way, row in rows.items():
        print(way.ljust(12) + "".join(f"{row[name]:12.2f}" for name in names))


if __name__ == "__main__":
    main(sys.argv[1:])
