import json

import pytest

from headgate.shape.hints import hints_of
from headgate.shape.items import items_of
from headgate.shape.values import Lines, Value, pick_first, pick_items
from headgate.types import Query

NO_EXTRAS = ()


def array(*lengths: int) -> bytes:
    return b"[%b]" % b",".join(b'"%b"' % (b"x" * (length - 2)) for length in lengths)


def picked(lengths: list[int], room: int, *extras: tuple[float, list[int]]) -> dict[int, int]:
    return dict(sorted(pick_items(items_of(array(*lengths)), extras, room, 10).items()))


def test_items_are_picked_from_the_beginning_as_long_as_they_fit():
    assert picked([20] * 100, 105) == {0: 20, 1: 20, 2: 20, 3: 20, 4: 20}


def test_all_items_are_picked_where_there_is_room():
    assert picked([20, 30, 5], 58) == {0: 20, 1: 30, 2: 5}


def test_what_room_is_left_at_the_end_goes_to_a_part_of_the_next_item():
    assert picked([400] * 100, 2_000) == {0: 400, 1: 400, 2: 400, 3: 400, 4: 395}


def test_a_huge_item_takes_no_more_than_a_part_of_the_room():
    assert picked([100, 50_000, *[100] * 50], 4_000) == {
        0: 100,
        1: 1_070,
        **dict.fromkeys(range(2, 30), 100),
    }


def test_of_few_items_each_is_shown_and_large_ones_share_what_small_ones_leave():
    assert picked([50, 9_000, 9_000], 3_053) == {0: 50, 1: 1_500, 2: 1_500}


def test_extras_are_picked_wherever_they_stand_and_pay_for_saying_where():
    assert picked([100] * 1_000, 1_000, (0.6, [900, 500])) == {
        **dict.fromkeys(range(7), 100),
        7: 72,
        500: 100,
        900: 100,
    }


def test_one_extra_may_take_more_than_its_share_to_be_whole():
    assert picked([100] * 1_000, 300, (0.25, [900])) == {0: 100, 1: 88, 900: 100}


def test_extras_are_left_out_where_there_is_no_room_for_any():
    assert picked([100] * 1_000, 150, (0.25, [900])) == {0: 100}


def test_a_large_extra_is_cut_so_that_others_have_room():
    found = picked([100] * 500 + [9_000] * 3, 3_000, (0.6, [500, 501, 502]))

    assert {number: found[number] for number in (500, 501, 502)} == {500: 590, 501: 590, 502: 590}


@pytest.mark.parametrize("room", [0, 5, 60, 299, 5_000])
@pytest.mark.parametrize("lengths", [[2], [3_000], [10] * 40, [700] * 40, [3_000, 10, 10, 3_000]])
def test_what_is_picked_never_takes_more_than_the_room(lengths, room):
    items = items_of(array(*lengths))

    found = pick_first(items, range(len(items)), room)

    assert sum(found.values()) + len(found) <= room
    assert all(share <= items.length(number) for number, share in found.items())


def test_a_value_is_compact_and_so_are_its_parts():
    value = Value(json.dumps({"a": [1, {"b": "x y"}]}, indent=2).encode())

    assert value.raw == b'{"a":[1,{"b":"x y"}]}'
    assert value.member(0).item(1).raw == b'{"b":"x y"}'


def test_a_large_value_is_compacted_part_by_part():
    value = Value(json.dumps([{"a": "x" * 1_000}] * 300, indent=2).encode())

    assert value.item(299).raw == b'{"a":"%b"}' % (b"x" * 1_000)


def test_only_what_is_deep_and_large_is_a_bomb():
    def nested(levels: int) -> bytes:
        return b"[" * levels + b"]" * levels

    assert not Value(nested(10_000), depth="deep").is_bomb
    assert Value(nested(20_000), depth="deep").is_bomb
    assert not Value(nested(20_000), depth="plain").is_bomb
    beside = Value(b"[%b,1,%b]" % (nested(10_000), nested(500)), depth="deep")
    assert [beside.item(number).is_bomb for number in range(3)] == [True, False, False]


def test_lines_have_their_last_ones_as_extras():
    lines = Lines(b"\n".join(b"%d" % number for number in range(1_000)))

    _, _, (share, numbers) = lines.extras(hints_of(Query()))

    assert (share, numbers[:3]) == (0.25, [999, 998, 997])


def test_lines_that_stand_out_bring_those_beside_them():
    written = [b'{"n":%d,"out":"fine"}' % number for number in range(100)]
    written[50] = b'{"n":50,"out":"panic: divide by zero"}'

    _, (share, numbers), _ = Lines(b"\n".join(written)).extras(hints_of(Query()))

    assert (share, numbers) == (0.5, [50, 49, 51])


def test_a_line_that_is_no_json_is_left_as_it_is():
    lines = Lines(b'{"a": 1}\nnot  json\n{"b": 2}')

    assert [lines.item(number).raw for number in range(3)] == [b'{"a":1}', b"not  json", b'{"b":2}']
