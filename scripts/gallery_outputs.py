"""Outputs as tools write them, made here and the same on every machine: for the gallery."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

WORDS = (
    *("gate", "ledger", "batch", "policy", "marker", "budget", "store"),
    *("spill", "shape", "verdict", "history", "session", "window", "share"),
)


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gave back, and what the user had asked."""

    title: str
    tool: str
    text: str
    question: str = ""
    tokens: int = 400


def outputs() -> list[Output]:
    """All of them, in the order of the page."""
    return [make() for make in MAKERS]


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(WORDS, k=count))


def _failing_tests() -> Output:
    lines = ["============ test session starts ============", "collected 300 items", ""]
    lines += [
        f"tests/test_shop.py::test_price[{i}] {'FAILED' if i == 117 else 'PASSED'} [{i // 3:3}%]"
        for i in range(300)
    ]
    lines += ["", "================= FAILURES =================", "____ test_price[117] ____"]
    lines += ["", "    def test_price(n):", "        cart = Cart([Item(n)])"]
    lines += [">       assert cart.total() == Decimal('11.70')"]
    lines += ["E       AssertionError: assert Decimal('11.69') == Decimal('11.70')"]
    lines += ["", "tests/test_shop.py:41: AssertionError", "--------- Captured log ---------"]
    lines += ["WARNING shop.tax:tax.py:88 rounding down 11.695"]
    lines += [
        "FAILED tests/test_shop.py::test_price[117] - AssertionError: assert Decimal('11.69')"
    ]
    lines += ["======= 1 failed, 299 passed in 4.21s ======="]
    return Output("A test run with one failure", "bash", "\n".join(lines), tokens=350)


def _build() -> Output:
    draw = random.Random(1)
    lines = ["$ npm ci", "npm warn deprecated inflight@1.0.6: This module is not supported"]
    lines += [
        f"npm http fetch GET 200 https://registry.npmjs.org/{_words(draw, 1)}-{i} "
        f"{draw.randint(9, 400)}ms (cache miss)"
        for i in range(240)
    ]
    lines += ["added 240 packages in 9s", "$ npm run build", "> shop@2.1.0 build", "> tsc -p ."]
    lines += [
        "src/cart.ts(41,17): error TS2345: Argument of type 'string' is not assignable to 'number'."
    ]
    lines += ["src/tax.ts(8,5): error TS7006: Parameter 'rate' implicitly has an 'any' type."]
    lines += ["npm error Lifecycle script `build` failed with error:", "npm error code 2"]
    lines += [f"npm verbose stack {_words(draw, 8)}" for _ in range(60)]
    lines += ["npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log"]
    stamped = [
        f"build\tInstall and build\t2026-03-02T09:{i // 60:02}:{i % 60:02}.{i * 7919:07}Z {line}"
        for i, line in enumerate(lines)
    ]
    title = "A build that failed, as a CI service logs it"
    return Output(title, "bash", "\n".join(stamped), "Why did the build fail?", 350)


def _service_log() -> Output:
    draw = random.Random(2)
    lines = []
    for i in range(1_200):
        level, text = "INFO", f"GET /cart/{draw.randint(100, 999)} 200 {draw.randint(2, 60)}ms"
        if i == 611:
            level, text = "WARN", "pool exhausted: 20 of 20 connections in use"
        if i in (612, 614):
            level, text = "ERROR", "POST /checkout 500: could not get a connection in 3000ms"
        lines.append(f"2026-03-02T09:{i // 60:02}:{i % 60:02}Z {level:5} shop {text}")
    return Output("The log of a service", "read_log", "\n".join(lines))


def _trace() -> Output:
    frames = [f"\tat org.shop.service.Layer{i}.call(Layer{i}.java:{40 + i})" for i in range(90)]
    lines = ['Exception in thread "main" java.lang.IllegalStateException: checkout failed', *frames]
    lines += ["Caused by: java.sql.SQLTimeoutException: no connection within 3000ms"]
    lines += [f"\tat org.shop.db.Pool.take(Pool.java:{100 + i})" for i in range(60)]
    lines += ["\t... 31 more"]
    return Output("A stack trace", "bash", "\n".join(lines), tokens=300)


def _repeated() -> Output:
    lines = ["Connecting to build-7 ...", *["waiting for the lock of /var/cache/apt"] * 600]
    return Output(
        "A line that comes 600 times", "bash", "\n".join([*lines, "got the lock", "done"])
    )


def _alike() -> Output:
    lines = [f"10:{i // 60:02}:{i % 60:02} chunk {i:04} of 1500 uploaded" for i in range(1_500)]
    lines[902] = "10:15:02 chunk 0902 of 1500 checksum differs, sent again"
    return Output("Lines that differ in their digits", "bash", "\n".join(lines))


def _changed() -> Output:
    parts = []
    for name in ("cart", "tax", "order", "mail", "stock"):
        parts += [f"diff --git a/src/{name}.py b/src/{name}.py", "index 1f3a9c7..be20d1f 100644"]
        parts += [f"--- a/src/{name}.py", f"+++ b/src/{name}.py", "@@ -10,30 +10,32 @@ class Main:"]
        for i in range(16):
            parts += [f"     def step_{i}(self):", f"-        return self.{name}[{i}]"]
            parts += [f"+        return self.{name}.get({i}, 0)"]
    return Output("A diff", "git_diff", "\n".join(parts), "what changed in tax.py?")


def _commits() -> Output:
    draw = random.Random(3)
    parts = []
    for i in range(25):
        parts += [f"commit {draw.getrandbits(160):040x}", "Author: Ada <ada@example.org>"]
        parts += [f"Date:   Mon Mar {1 + i % 28} 10:00:00 2026 +0000", ""]
        parts += [f"    Let the {_words(draw, 1)} know its {_words(draw, 1)}", ""]
        parts += [f"    {_words(draw, 12)}" for _ in range(4)] + [""]
    return Output("A log of commits", "bash", "\n".join(parts), tokens=500)


def _hits() -> Output:
    draw = random.Random(4)
    lines = []
    for i in range(24):
        name = f"src/{WORDS[i % len(WORDS)]}/part_{i}.py"
        lines += [f"{name}:{draw.randint(1, 20)}:def total_{i}(cart):"]
        lines += [f"{name}:{30 + j}:    value = total_{i}(cart) + {j}" for j in range(14)]
    return Output("Hits of a search", "grep", "\n".join(lines), tokens=500)


def _listing() -> Output:
    lines = [f"./src/{word}/module_{i:02}.py" for word in WORDS for i in range(40)]
    lines.insert(333, "./src/.env.backup")
    return Output("A listing of files", "find", "\n".join(lines))


def _table() -> Output:
    draw = random.Random(5)
    rows = ["order,day,country,status,amount"]
    for i in range(900):
        status = "refunded twice" if i == 517 else draw.choice(("paid", "paid", "open"))
        amount = 99_999 if i == 700 else draw.randint(5, 300)
        country = draw.choice(("DE", "PL", "FR"))
        rows.append(f"{10_000 + i},2026-03-{1 + i // 30:02},{country},{status},{amount}")
    return Output("A table in CSV", "query_table", "\n".join(rows), "orders 10042 and 10777?")


def _pods() -> Output:
    rows = ["NAME                 READY   STATUS             RESTARTS   AGE"]
    rows += [
        f"shop-{i:03}-x7f9         1/1     Running            {i % 2}          {i % 9}d"
        for i in range(150)
    ]
    rows[88] = "shop-087-x7f9         0/1     CrashLoopBackOff   214        2d"
    return Output("Columns set with spaces", "kubectl", "\n".join(rows), tokens=300)


def _records() -> Output:
    draw = random.Random(6)
    users = [
        {"id": i, "name": _words(draw, 2), "mail": f"u{i}@example.org", "status": "active"}
        for i in range(400)
    ]
    users[277]["status"] = "locked: 9 failed logins"
    return Output("A list of records in JSON", "list_users", json.dumps(users, indent=2))


def _answer() -> Output:
    draw = random.Random(7)
    document = {
        "shops": [
            {
                "name": _words(draw, 2),
                "open": True,
                "stock": {w: draw.randint(0, 99) for w in WORDS},
            }
            for _ in range(60)
        ],
        "total": 60,
    }
    asked = "What is shops[41].stock.ledger and shops[7].name?"
    return Output("JSON, asked for by path", "api", json.dumps(document), asked)


def _small_records() -> Output:
    rows = [{"identifier": i, "display_name": f"item {i}", "in_stock": i % 3} for i in range(40)]
    return Output("JSON that fits as a table", "api", json.dumps(rows, indent=2), tokens=600)


def _json_lines() -> Output:
    draw = random.Random(8)
    lines = [
        {"ts": 1_772_000_000 + i, "level": "error" if i == 450 else "info", "msg": _words(draw, 6)}
        for i in range(700)
    ]
    return Output("JSON lines", "read_log", "\n".join(map(json.dumps, lines)))


def _page() -> Output:
    draw = random.Random(9)
    menu = "".join(
        f'<li class="menu-item"><a href="/{w}/{i}">{w} {i}</a></li>'
        for i in range(20)
        for w in WORDS
    )
    text = "".join(
        f"<h2>About the {w}</h2>"
        f"<p>The {_words(draw, 24)}, see <a href='/doc/{w}'>the {w}</a>.</p>\n"
        f"<p>And the {_words(draw, 30)}.</p>\n"
        for w in WORDS
    )
    source = f"""<!doctype html><html><head><title>The handbook</title>
<style>li {{ float: left }}</style>
<script>{"track();" * 400}</script></head><body><nav><ul>{menu}</ul></nav>
<main><h1>The handbook</h1>
{text}</main><footer>All rights reserved</footer></body></html>"""
    return Output("A web page", "fetch", source)


def _document() -> Output:
    draw = random.Random(10)
    parts = ["# Handbook", ""]
    for w in WORDS[:10]:
        parts += (
            [f"## The {w}", ""] + [f"{_words(draw, 14).capitalize()}." for _ in range(9)] + [""]
        )
    return Output(
        "A document in Markdown", "read_doc", "\n".join(parts), "how is the store closed?", 600
    )


def _source() -> Output:
    parts = ['"""Carts and what they cost."""', "", "import os", "from decimal import Decimal", ""]
    for w in WORDS:
        parts += [f"class {w.title()}:", f'    """One {w}."""', ""]
        for verb in ("open", "close"):
            parts += [f"    def {verb}(self, name: str) -> Decimal:", "        total = Decimal(0)"]
            parts += [f"        total += self.{w}[{i}]" for i in range(6)] + [
                "        return total",
                "",
            ]
    return Output("Source code", "bash", "\n".join(parts), tokens=600)


def _manifests() -> Output:
    parts = []
    for i, w in enumerate(WORDS):
        parts += ["---", "apiVersion: apps/v1", "kind: Deployment", "metadata:", f"  name: {w}"]
        parts += ["spec:", f"  replicas: {2 + i % 3}", "  template:", "    spec:"]
        parts += ["      containers:", "        - name: app", f"          image: shop/{w}:1.{i}"]
        parts += ["          env:", "            - name: LOG_LEVEL"]
        parts += [f"              value: {'debug' if i == 7 else 'info'}"]
        parts += [
            "          resources:",
            "            limits:",
            f"              memory: {128 + i}Mi",
        ]
    question = f"what memory limit does the {WORDS[4]} deployment have?"
    return Output("Manifests of a cluster", "bash", "\n".join(parts), question, 400)


def _letter() -> Output:
    draw = random.Random(11)
    lines = [f"{_words(draw, 12).capitalize()}." for _ in range(160)]
    lines[80] = "Please note that the passphrase is changed on Friday, see OPS-4711."
    return Output("Plain text", "read_mail", "\n".join(lines), tokens=300)


MAKERS: tuple[Callable[[], Output], ...] = (
    *(
        _failing_tests,
        _build,
        _service_log,
        _trace,
        _repeated,
        _alike,
        _changed,
        _commits,
        _hits,
        _listing,
    ),
    *(
        _table,
        _pods,
        _records,
        _answer,
        _small_records,
        _json_lines,
        _page,
        _document,
        _source,
        _manifests,
        _letter,
    ),
)
