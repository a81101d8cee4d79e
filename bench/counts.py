"""Exact counts against tiktoken over the published ranks, on every text in a folder.

`python bench/counts.py [FOLDER]` reads every string in its files (JSON, JSON lines, plain text;
gzip and xz too), counts each with Headgate and with the reference, and exits 1 on a difference.
"""

import gzip
import json
import lzma
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from headgate.measure.vocab import PIECE_CHARS, TokenMeter  # noqa: E402
from tests.measure.reference import VOCABULARIES, reference_count  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"

LONGEST_CHARS = 20_000_000
"""Longer strings are left out, and said."""

BLANK_RUN = re.compile(r"\s{600000}")
"""tiktoken panics at a million blanks in a row; about texts with so many it is not asked."""

OPENERS: dict[str, Callable[[Path], bytes]] = {
    ".gz": lambda path: gzip.decompress(path.read_bytes()),
    ".xz": lambda path: lzma.decompress(path.read_bytes()),
}

HARD = (
    "",
    "<|endoftext|> <|fim_prefix|>",
    "lone \ud800 surrogates \udfff",
    "\0\x01\x02",
    "e" + "\u0301" * 50,
    "'s 'S it's IT'S ʼs",
    "a\r\n\r\n  /\n//\n b" * 500,
    '{"a":[1,2,3],"b":null},' * 5_000,
    "0123456789" * 5_000,
    "中文字符" * 5_000,
    "👩‍💻🏴󠁧󠁢󠁥󠁮󠁧󠁿" * 500,
    " " * 500_000,
    "\t" * 500_000,
    " " * 1_000_000,
    "=" * 100_000,
    "a" * 100_000,
)
"""Texts that have broken tokenizers."""


@dataclass
class Tally:
    """What was counted in one vocabulary, and how long it took."""

    texts: int = 0
    length_bytes: int = 0
    tokens: int = 0
    differ: int = 0
    not_asked: int = 0
    ours_seconds: float = 0.0
    reference_seconds: float = 0.0


def texts_in(folder: Path) -> Iterator[str]:
    """Every string in the files of a folder, each once."""
    seen: set[int] = set()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".bin"):
        raw = OPENERS.get(path.suffix, Path.read_bytes)(path)
        for text in strings_of(raw.decode("utf-8", "replace")):
            if hash(text) not in seen:
                seen.add(hash(text))
                yield text


def strings_of(content: str) -> Iterator[str]:
    """The strings of JSON or JSON lines; of anything else, the whole."""
    try:
        values = [json.loads(content)]
    except ValueError:
        try:
            values = [json.loads(line) for line in content.split("\n") if line.strip()]
        except ValueError:
            values = [content]
    while values:
        value = values.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            values += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            values += value


def compare(vocab: str, texts: Sequence[str]) -> Tally:
    """Count every text both ways; one that differs is shown."""
    tally = Tally()
    meter = TokenMeter(vocab)
    for text in texts:
        valid = text.encode("utf-8", "backslashreplace")
        started = time.perf_counter()
        ours = meter.count(text)
        between = time.perf_counter()
        if BLANK_RUN.search(text):
            tally.not_asked += 1
            continue
        theirs = reference_count(vocab, valid.decode())
        tally.reference_seconds += time.perf_counter() - between
        tally.ours_seconds += between - started
        tally.texts += 1
        tally.length_bytes += len(valid)
        tally.tokens += theirs
        if ours != theirs:
            tally.differ += 1
            print(f"counts: {vocab} says {theirs}, Headgate {ours}: {text[:60]!r}", file=sys.stderr)
    return tally


def main(argv: Sequence[str]) -> int:
    """Compare on the hard texts and on a folder; 1 where any count differs."""
    folder = Path(argv[0]) if argv else DEFAULT
    texts = list(HARD)
    if folder.is_dir():
        texts += texts_in(folder)
    else:
        print(f"counts: no folder {folder}; the hard texts alone", file=sys.stderr)
    kept = [text for text in texts if len(text) <= LONGEST_CHARS]
    if len(kept) < len(texts):
        print(f"counts: {len(texts) - len(kept)} texts too long left out", file=sys.stderr)
    for vocab in VOCABULARIES:  # the first count loads: not part of either time
        TokenMeter(vocab).count("x")
        reference_count(vocab, "x")
    print("vocab    texts     bytes       tokens      differ  Headgate MB/s  tiktoken MB/s  ratio")
    tallies = {vocab: compare(vocab, kept) for vocab in VOCABULARIES}
    for vocab, tally in tallies.items():
        ours = tally.length_bytes / tally.ours_seconds / 1e6
        theirs = tally.length_bytes / tally.reference_seconds / 1e6
        print(
            f"{vocab:7}  {tally.texts:<8,}  {tally.length_bytes:<10,}  {tally.tokens:<10,}  "
            f"{tally.differ:<6}  {ours:13.1f}  {theirs:13.1f}  {ours / theirs:5.1f}"
        )
    print(
        f"{sum(len(t) > PIECE_CHARS for t in kept):,} texts were counted in pieces; about "
        f"{tallies['o200k'].not_asked} with a million blanks tiktoken was not asked"
    )
    return 1 if any(tally.differ for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
