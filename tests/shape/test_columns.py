from headgate.shape.columns import Column, column_of, in_columns, odd_rows


def column(*cells: str) -> Column:
    return column_of(cells)


def test_the_extremes_of_a_column_of_numbers_stand_out():
    assert column("5", "7", "-2", "6", "90", "5") == Column("int -2..90", (2, 4), (2, 4))


def test_a_column_that_only_grows_points_at_nothing():
    assert column(*map(str, range(50))) == Column("int 0..49", (), (0, 49))


def test_an_end_that_many_rows_share_is_nothing_odd():
    cells = ["3", *["0"] * 60, "9", "2", *["0"] * 40, "4"]

    assert column(*cells) == Column("int 0..9", (61,), (1, 61))


def test_a_word_among_numbers_stands_out_most():
    assert column("1.5", "2.5", *["2.0"] * 60, "n/a", "1.7").odd[0] == 62


def test_numbers_with_holes_among_them_are_numbers():
    cells = ["3", "", "1", *["2"] * 100, "", "7"]

    assert column(*cells) == Column("int 1..7", (2, 104, 1, 103), (2, 104))


def test_a_cell_may_say_that_it_is_empty():
    cells = ["3", "NA", "1", *["2", "NA"] * 50, "n/a", "7"]

    assert column(*cells).words == "int 1..7"
    assert column(*cells).ends == (2, 104)


def test_a_value_that_occurs_once_among_few_stands_out():
    cells = ["ok", "late"] * 100
    cells[77] = "lost"

    assert column(*cells) == Column("3 values: ok, late, lost", (77,))


def test_a_missing_value_stands_out_where_nearly_all_have_one():
    cells = [f"name {i}" for i in range(100)]
    cells[40] = ""

    assert column(*cells) == Column("text", (40,))


def test_rows_are_ranked_by_how_odd_they_are_in_any_column():
    assert odd_rows([Column("", (4, 2)), Column("", (4, 9)), Column("", ())]) == [4, 2, 9]


def test_a_row_that_is_too_short_has_empty_cells():
    assert in_columns([["1", "a"], ["2"], ["3", "b", "c"]], 2) == [["1", "2", "3"], ["a", "", "b"]]
