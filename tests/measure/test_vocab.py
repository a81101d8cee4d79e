import json
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import PolicyError
from headgate.measure import vocab as module
from headgate.measure.vocab import (
    EXACT_BYTES,
    PIECE_CHARS,
    WINDOW_BYTES,
    WINDOWS,
    TokenMeter,
    pieces,
    windows,
)
from tests.measure.reference import encoder, reference_count

VOCABS = ["o200k", "cl100k"]

texts = st.lists(
    st.one_of(
        st.sampled_from(
            ["\n", "\n\n", "\r\n", " ", "  ", "\t", "/", "//", "'s", "'", "12345", "="]
        ),
        st.sampled_from(["word", "Word", "it's", "a.b", '{"a":1,', "中文", "é", "e\u0301", "👩‍💻"]),
        st.sampled_from(
            ["<|endoftext|>", "<|", "|>", "\x1c", "\x85", "\u2028", "ʼn", "ﬁ", "\u3000"]
        ),
        st.text(max_size=5),
    ),
    max_size=30,
).map("".join)


WORDS = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "one": 1, "two": 2, "three": 3},
    },
}
"""A tokenizer that knows three words."""


def counted_reference(vocab: str, text: str) -> int:
    return reference_count(vocab, text.encode("utf-8", "backslashreplace").decode())


@pytest.mark.proves("A1")
@pytest.mark.parametrize("vocab", VOCABS)
def test_the_ranks_that_come_with_the_install_are_those_that_were_published(vocab):
    assert encoder(vocab).decode(encoder(vocab).encode_ordinary("déjà vu")) == "déjà vu"


@pytest.mark.proves("A1", "0.1")
@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("The quick brown fox jumps over the lazy dog.\n", 10, 10),
        ("日本語のログ", 4, 6),
        ("<|endoftext|>", 7, 7),
        ("a\ud800b", 5, 5),
        ("e" + "\u0301" * 50, 51, 51),
        (" " * 500_000, 3_907, 3_907),
        (" " * 1_000_000, 7_813, 7_813),
        ("\0\0\0", 2, 3),
    ],
)
def test_tokens_are_counted_exactly(text, o200k, cl100k):
    assert TokenMeter("o200k").count(text) == o200k
    assert TokenMeter("cl100k").count(text) == cl100k


@pytest.mark.proves("A1")
@pytest.mark.parametrize("vocab", VOCABS)
@given(text=texts)
def test_any_text_counts_as_in_the_reference(vocab, text):
    assert TokenMeter(vocab).count(text) == counted_reference(vocab, text)


@pytest.mark.proves("A1")
@pytest.mark.parametrize("vocab", VOCABS)
@given(text=texts, piece_chars=st.integers(1, 12))
def test_counts_of_pieces_add_up_to_the_count_of_the_whole(vocab, text, piece_chars):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "PIECE_CHARS", piece_chars)
        in_pieces = TokenMeter(vocab).count(text)

    assert in_pieces == counted_reference(vocab, text)


def test_a_long_text_is_cut_into_small_pieces():
    for text in (
        '{"id":1,"name":"x"},' * 20_000,
        "a word\n" * 60_000,
        "https://a.b/c?d=e&" * 20_000,
    ):
        cut = list(pieces(text))

        assert "".join(cut) == text
        assert max(map(len, cut)) <= PIECE_CHARS + 20


def test_a_text_without_a_border_stays_whole():
    assert list(pieces(" " * 100_000)) == [" " * 100_000]


@pytest.mark.parametrize("vocab", VOCABS)
def test_a_text_longer_than_the_cache_counts_the_same(vocab):
    text = "".join(f"{i} lines of /var/log/app{i % 7}.log\n" for i in range(40_000))

    assert len(text) > module.CACHED_TEXT_CHARS
    assert TokenMeter(vocab).count(text) == reference_count(vocab, text)


def test_a_vocabulary_nobody_has_is_named_with_those_there_are():
    with pytest.raises(PolicyError, match=r"vocab is 'o300k'; there is o200k, cl100k"):
        TokenMeter("o300k")


@pytest.mark.proves("A2")
def test_an_estimate_is_exact_below_64_kb():
    data = b"12 lines, 34 words\n" * (EXACT_BYTES // 19)

    assert len(data) < EXACT_BYTES
    assert TokenMeter("o200k").estimate(data) == TokenMeter("o200k").count(data.decode())
    assert TokenMeter("o200k").estimate(b"") == 0


@pytest.mark.proves("A2")
@pytest.mark.parametrize(
    "unit",
    [
        "2026-01-31 12:00:{0:02} INFO worker[{0}] handled /api/v1/items/{0} in {0} ms\n",
        '{{"id":{0},"name":"item {0}","tags":["a","b"],"price":{0}.5}},',
        "def handler_{0}(request):\n    return respond(request.items[{0}], status=200)\n\n",
        "第{0}行的日志：请求已完成，耗时{0}毫秒。\n",
        "Sentence number {0} says nothing that sentence {0} did not say before.  ",
    ],
)
def test_an_estimate_of_a_large_text_is_within_three_percent(unit):
    text = "".join(unit.format(i % 100 + 10) for i in range(20_000))
    truth = TokenMeter("o200k").count(text)

    assert abs(TokenMeter("o200k").estimate(text.encode()) - truth) <= 0.03 * truth


@settings(max_examples=20)
@given(st.binary(min_size=1, max_size=50))
def test_an_estimate_is_a_pure_function_of_any_bytes(unit):
    data = unit * (2 * EXACT_BYTES // len(unit))
    meter = TokenMeter("o200k")

    assert meter.estimate(data) == meter.estimate(bytes(bytearray(data))) > 0


def test_windows_are_cut_between_characters_one_in_each_part():
    data = "日本".encode() * 50_000
    cut = list(windows(data))

    assert len(cut) == WINDOWS
    assert all(set(window.decode()) == set("日本") for window in cut)
    assert all(abs(len(window) - WINDOW_BYTES) <= 2 for window in cut)


@pytest.mark.proves("A1")
def test_a_tokenizer_of_the_users_own_is_plugged_in_by_its_path(tmp_path):
    path = tmp_path / "words.json"
    path.write_text(json.dumps(WORDS), encoding="utf-8")
    meter = TokenMeter(str(path))

    assert meter.name == "words.json"
    assert meter.count("one two two three") == 4
    assert meter.count("one " * 20_000 + "\ud800") >= 20_000
    assert meter.estimate(b"one two " * 20_000) == pytest.approx(40_000, rel=0.02)


@pytest.mark.parametrize("content", [None, "{}", "no json"])
def test_a_path_that_leads_to_no_tokenizer_is_a_policy_error(tmp_path, content):
    path = tmp_path / "none.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(PolicyError, match=r"none\.json' is no tokenizer\.json"):
        TokenMeter(str(path))


LOADING = """
import os, threading
from headgate.measure.vocab import TokenMeter
counts = []
threads = [
    threading.Thread(target=lambda: counts.append(TokenMeter("o200k").count("hello world")))
    for _ in range(8)
]
for thread in threads:
    thread.start()
for _ in range(3):
    if (child := os.fork()) == 0:
        os._exit(TokenMeter("o200k").count("hello world"))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
for thread in threads:
    thread.join()
assert counts == [2] * 8, counts
print("all counted")
"""


def test_threads_and_children_load_the_vocabulary_at_the_same_time():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOADING],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )

    assert ran.stdout == "all counted\n"


def test_threads_count_the_same():
    text = "some words, counted at once\n" * 3_000
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(TokenMeter("cl100k").count(text)))
        for _ in range(6)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counts == [reference_count("cl100k", text)] * 6


@pytest.mark.proves("A1")
def test_what_was_counted_once_is_not_counted_again():
    text = "".join(f"line {i} is counted once and then remembered\n" for i in range(1_500))
    before = module._count_cached.cache_info()
    TokenMeter("o200k").count(text)
    between = module._count_cached.cache_info()
    TokenMeter("o200k").count(text)
    after = module._count_cached.cache_info()

    assert between.misses - before.misses == len(list(pieces(text)))
    assert (after.misses, after.hits) == (between.misses, between.hits + len(list(pieces(text))))
    assert after.currsize <= module.CACHED_PIECES
