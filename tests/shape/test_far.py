from headgate.shape.far import far_places


def test_a_number_far_from_the_middle_of_all_is_found():
    numbers = [float(10 + number % 9) for number in range(100)]
    numbers[33] = 1902.8
    numbers[66] = -500.0

    assert far_places(numbers) == [33, 66]


def test_numbers_that_spread_or_grow_have_none():
    assert far_places([number**2 for number in range(100)]) == []


def test_among_few_numbers_none_is_far():
    assert far_places([1.0, 1.0, 1.0, 900.0]) == []


def test_endless_numbers_do_no_harm():
    assert far_places([1.0] * 20 + [float("inf")]) == [20]
