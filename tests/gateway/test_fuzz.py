import random

import pytest

from tests.gateway import fuzz

TRIES = 300


@pytest.mark.proves("P24")
def test_no_bytes_disturb_the_framer_the_splicer_or_what_unpacks(state, tmp_path):
    gate = fuzz.gate_in(tmp_path)
    for seed in range(TRIES):
        chance = random.Random(seed)
        fuzz.try_one(fuzz.mutated(chance.choice(fuzz.SEEDS), chance), seed, gate)


def test_every_seed_is_good_as_it_is(state, tmp_path):
    gate = fuzz.gate_in(tmp_path)
    for seed in fuzz.SEEDS:
        fuzz.try_one(seed, 0, gate)


def test_the_seeds_reach_what_they_are_for(state, tmp_path):
    gate = fuzz.gate_in(tmp_path)
    for body, dialect in zip(fuzz.SEEDS, fuzz.DIALECTS, strict=False):
        assert gate.prepare(body, dialect=dialect).fresh
