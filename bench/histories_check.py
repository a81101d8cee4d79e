"""What the validator finds in real histories: `python bench/histories_check.py [DATA]`.

DATA is by default ../shared/data. Three questions: is it silent on every real conversation without
a known defect, does it find every known defect of the others, and does it find the broken histories
that people reported? A case that a request alone cannot show is put to the stand-in for the
providers instead, which also knows signatures, stored responses and windows; one that depends on
the model is given the model its report names. Both are said in the table.

Exits 1 when something was missed or a sound history was complained of.
"""

import gzip
import json
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.check import check
from headgate.errors import HistoryError
from headgate.testing import Call, Provider

DATA = Path("../shared/data")

DIALECTS = {
    "anthropic": "anthropic",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
    "gemini": "gemini",
}

RULES_OF_DEFECT = {
    "empty_text": "A8",
    "missing_result": "A2",
    "trailing_tool_use": "A2",
    "missing_tool": "C1",
    "no_output": "R1",
}
"""The words of the recorded defects, and the rule each breaks."""

MODELS = {
    "C052": "claude-opus-4-6",
    "C096": "deepseek-chat",
    "C100": "gpt-5-codex",
    "C108": "gemini-3-pro",
}
"""Cases that are broken for some models only, with a model of the kind their reports name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    found: bool
    how: str


def main(argv: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    data = Path(arguments[0]) if arguments else DATA
    if not (data / "A_conversations").is_dir():
        print(f"no data at {data}: name the folder that holds A_conversations", file=sys.stderr)
        return 2
    good = [conversations(data), recordings(data), windows(data), cases(data)]
    return 0 if all(good) else 1


def conversations(data: Path) -> bool:
    """Sound ones must be silent; the others must show at least what is known of them."""
    seen, sound, silent, known, found, extra = (Counter[str]() for _ in range(6))
    for one in read(data / "A_conversations" / "conversations.jsonl.gz"):
        dialect = DIALECTS[one["format"]]
        rules = Counter(v.rule for v in check(encoded(one["messages"]), dialect))
        wanted = Counter(RULES_OF_DEFECT[error.split(":")[1]] for error in one["wire_errors"])
        seen[dialect] += 1
        known[dialect] += wanted.total()
        found[dialect] += (rules & wanted).total()
        extra[dialect] += (rules - wanted).total()
        sound[dialect] += not wanted
        silent[dialect] += not wanted and not rules
    print("conversations       all  sound  silent  defects  found  beside them")
    for dialect in seen:
        row = (seen[dialect], sound[dialect], silent[dialect], known[dialect], found[dialect])
        print(f"{dialect:<17}", *(f"{n:>6}" for n in row), f"{extra[dialect]:>12}")
    print()
    return found == known and silent == sound


def recordings(data: Path) -> bool:
    """Requests that a provider really answered: with 200 they are silent, with 400 they are not."""
    right, of = 0, 0
    for path in sorted((data / "A_wire_recordings").glob("*.json")):
        for exchange in json.loads(path.read_text())["interactions"]:
            dialect = dialect_of(exchange["request"]["url"])
            if dialect is None:
                continue
            of += 1
            refused = bool(check(exchange["request"]["body"].encode(), dialect))
            right += refused == (exchange["response"]["status"] == 400)
    print(f"recorded requests judged as their provider did: {right} of {of}\n")
    return right == of


def windows(data: Path) -> bool:
    """Pieces of real conversations around a defect."""
    all_of_them = [*read(data / "C_broken_histories" / "real_windows.jsonl.gz")]
    found = [
        one
        for one in all_of_them
        if RULES_OF_DEFECT[one["defect"]]
        in {violation.rule for violation in check(encoded(one["messages"]), "anthropic")}
    ]
    print(f"windows with a real defect: {len(found)} of {len(all_of_them)} found\n")
    return len(found) == len(all_of_them)


def cases(data: Path) -> bool:
    """Histories that people reported as refused."""
    lines = (data / "C_broken_histories" / "cases.jsonl").read_text().splitlines()
    found, of, apart = 0, 0, Counter[str]()
    print("case   api                category                              found")
    for case in map(json.loads, lines):
        outcome = judge(case)
        if outcome.found or not outcome.how.startswith("apart: "):
            of += 1
            found += outcome.found
        else:
            apart[outcome.how] += 1
        print(f"{case['id']:<6} {case['api']:<18} {case['category']:<37} {outcome.how}")
    print(f"\ncases found: {found} of {of}")
    for how, count in apart.items():
        print(f"counted apart: {count}, {how.removeprefix('apart: ')}")
    return found == of


def judge(case: Mapping[str, object]) -> Outcome:
    id_, api, broken = str(case["id"]), str(case["api"]), generated(case)
    if id_ in IN_STATE:
        return Outcome(IN_STATE[id_](broken), "by the stand-in")
    dialect = DIALECTS.get(api, "anthropic" if api == "bedrock_converse" else "")
    if not dialect:
        return Outcome(False, "apart: no request")
    try:
        violations = check(encoded(broken), dialect, model=MODELS.get(id_))
    except HistoryError:
        return Outcome(False, "apart: no request")
    rules = " ".join(sorted({violation.rule for violation in violations}))
    if api not in DIALECTS and not is_of(dialect, broken):
        return Outcome(False, "apart: another dialect")
    named = f", told that the model is {MODELS[id_]}" if id_ in MODELS else ""
    return Outcome(bool(violations), (rules or "nothing") + named)


def is_of(dialect: str, broken: object) -> bool:
    """Whether a case of another API is written in one of our dialects all the same."""
    return dialect == "anthropic" and '"tool_use"' in json.dumps(broken)


def generated(case: Mapping[str, object]) -> object:
    """The history of a case; two are described, not written out."""
    if case["id"] == "C034":
        ids = [f"c{n}" for n in range(200)]
        function = {"name": "f", "arguments": "{}"}
        calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
        answers = [{"role": "tool", "tool_call_id": id_, "content": "x"} for id_ in ids]
        asked = {"role": "user", "content": "go"}
        return [asked, {"role": "assistant", "content": None, "tool_calls": calls}, *answers]
    if case["id"] == "C068":
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        return [
            {"role": "user", "content": "lorem ipsum " * 15_000},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "one more line\n" * 120_000},
        ]
    return case["broken"]


def edited_thinking(broken: object) -> bool:
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    body = {"model": "claude-opus-4-5", "max_tokens": 8_192, "tools": tools, **as_object(broken)}
    with Provider() as provider:
        return post(f"{provider.url}/v1/messages", body)[0] == 400


def beyond_the_window(broken: object) -> bool:
    with Provider(window_tokens=131_072) as provider:
        body = {"model": "gpt-4o", "messages": broken}
        status, answer = post(f"{provider.openai_url}/chat/completions", body)
    return status == 400 and "maximum context length" in answer


def waiting_in_a_stored_response(broken: object) -> bool:
    with Provider(Call("f")) as provider:
        url = f"{provider.openai_url}/responses"
        _, first = post(url, {"model": "gpt-5", "input": "go"})
        body = {**as_object(broken), "previous_response_id": json.loads(first)["id"]}
        status, answer = post(url, {"model": "gpt-5", **body})
    return status == 400 and "No tool output found" in answer


IN_STATE = {
    "C056": edited_thinking,
    "C068": beyond_the_window,
    "C093": waiting_in_a_stored_response,
}
"""Cases that only a provider can see: by a signature, a window, or what it stored."""


def post(url: str, body: Mapping[str, object]) -> tuple[int, str]:
    headers = {"authorization": "Bearer key", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(url, encoded(body), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def dialect_of(url: str) -> str | None:
    if "bedrock" in url:
        return None
    ends = {
        "/messages": "anthropic",
        "/chat/completions": "openai-chat",
        "/responses": "openai-responses",
    }
    return next((dialect for end, dialect in ends.items() if url.endswith(end)), None)


def as_object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def read(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    sys.exit(main())
