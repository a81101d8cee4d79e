from headgate.mcp.wire import array_of, encoded, fields_of, items_of, loaded, object_of


def test_members_and_items_keep_their_bytes():
    raw = b' {"a" : 1.0, "b\\u0062":[ 1 , {"c":2} ], "n": NaN} '

    fields = fields_of(raw)

    assert fields == {"a": b"1.0", "bb": b'[ 1 , {"c":2} ]', "n": b"NaN"}
    assert items_of(fields["bb"]) == [b"1", b'{"c":2}']
    assert object_of({"a": b"1.0"}) == b'{"a":1.0}'
    assert array_of([b"1", b"2"]) == b"[1,2]"


def test_what_is_neither_has_none():
    for raw in (b"", b"7", b"[1]", b"{broken", b"{1:2}"):
        assert fields_of(raw) == {}
    for raw in (b"", b"{}", b"[1", b"x"):
        assert items_of(raw) is None
    for raw in (b"", b"{", b"[" * 100_000):
        assert loaded(raw) is None


def test_a_lone_surrogate_is_written_as_its_escape():
    assert encoded({"é": "x"}) == '{"é":"x"}'.encode()
    assert encoded("\ud800") == b'"\\ud800"'
