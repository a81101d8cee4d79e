from headgate.shape.worth import pointed_by
from headgate.types import Query


def test_a_part_with_all_words_of_the_query_is_pointed_at_most():
    texts = ["replica eu-3 is slow", "replica us-1 is fine", *["nothing here"] * 8]
    pointed = pointed_by(Query(("replica", "eu-3")), texts)

    assert pointed[0] == 1.0
    assert 0 < pointed[1] < 0.5
    assert len(pointed) == 2


def test_what_is_named_literally_stays_strong_in_every_part_that_has_it():
    texts = ["flood,1954,a", "flood,1960,b", "fire,1954,c", "flood,1954,d", *["nothing"] * 30]
    pointed = pointed_by(Query(("flood", "1954"), ("flood,1954",)), texts)

    assert list(pointed)[:2] == [0, 3]
    assert pointed[3] > 0.6


def test_a_word_that_stands_nearly_everywhere_points_at_nothing():
    assert pointed_by(Query(("fine",)), ["all is fine"] * 20) == {}


def test_the_end_of_another_word_is_no_word():
    assert pointed_by(Query(("lag",)), ["flag", "lagging", *["x"] * 8]) == {1: 1.0}


def test_a_name_points_more_strongly_than_a_word_and_in_every_part():
    texts = [*(f"cookie_domain is set in {part}" for part in "abcd"), "what changed", *["x"] * 40]
    query = Query(("changed", "cookie_domain"), names=frozenset({"cookie_domain"}))
    pointed = pointed_by(query, texts)

    assert list(pointed)[:2] == [0, 1]
    assert pointed[3] > 0.5


def test_a_name_of_a_program_says_more_than_a_word_as_rare():
    texts = ["throw an exception", "checkException(x)", *["x"] * 20]
    query = Query(("checkexception", "exception"), names=frozenset({"checkexception"}))

    assert list(pointed_by(query, texts)) == [1, 0]


def test_a_question_finds_a_word_inside_of_a_name_and_a_task_does_not():
    texts = ["MaxIdleConns int", "maxidleconns", *["x"] * 20]
    task = tuple(f"word{i}" for i in range(20))

    assert list(pointed_by(Query(("idle",)), texts)) == [0]
    assert pointed_by(Query(("idle", *task)), texts) == {}


def test_a_short_word_in_a_long_text_is_found_in_linear_time():
    texts = ["prx pr"] * 9 + ["print"] * 60_000

    assert len(pointed_by(Query(("pr",)), texts)) == 9
