from headgate.shape.labels import labelled

PLAIN = ["a line without a label"] * 100


def test_a_label_that_stands_once_makes_its_line_stand_out():
    assert labelled([*PLAIN, "see OPS-4711 for the rest", *PLAIN]) == [100]
    assert labelled([*PLAIN, "at 0xDEADBEEF", "the password is heron"]) == [100, 101]


def test_a_label_that_comes_again_does_not():
    assert labelled([*PLAIN, "see OPS-4711", "again OPS-4711"]) == []


def test_usual_abbreviations_are_no_labels():
    assert labelled([*PLAIN, "in UTF-16 or SHA-256"]) == []


def test_where_every_line_has_one_none_stands_out():
    assert labelled([f"ticket OPS-{1_000 + i}" for i in range(200)]) == []
