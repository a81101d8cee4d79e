import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.shape.tree import tree_of, tree_of_elements

LISTED = """\
apiVersion: v1
items:
- kind: Pod
  metadata:
    name: a
  spec:
    node: n1
- kind: Pod
  metadata:
    name: b
"""


def read(text: str):
    return tree_of(text.removesuffix("\n").split("\n"))


@pytest.mark.proves("S4")
def test_an_item_may_stand_as_deep_as_the_key_of_its_list():
    tree = read(LISTED)

    assert tree.parents == [-1, -1, 1, 2, 3, 2, 5, 1, 7, 8]


@pytest.mark.proves("S4")
def test_things_are_what_no_single_one_of_holds_most():
    tree = read(LISTED)

    assert tree.things == [range(2, 7), range(7, 10)]
    assert tree.called == {range(2, 7): [2, 3, 4], range(7, 10): [7, 8, 9]}


@pytest.mark.proves("S4")
def test_what_all_things_are_called_names_none_of_them():
    tree = read("".join(f"---\nkind: Pod\nmetadata:\n  name: {name}\n" for name in "abc"))

    assert [*tree.called.values()] == [[2, 3], [6, 7], [10, 11]]


@pytest.mark.proves("S4")
def test_documents_are_things_and_nothing_stands_under_what_is_before_them():
    tree = read("---\na:\n  b: 1\n---\n- c\n- d: 2\n")

    assert tree.things == [range(1, 3), range(4, 6)]
    assert tree.parents == [-1, -1, 1, -1, -1, -1]


@pytest.mark.proves("S4")
def test_lines_stand_under_the_heading_in_brackets():
    tree = read("[a.b]\nkey = 1\n[[c]]\nkey = 2  # why\n")

    assert tree.parents == [-1, 0, -1, 2]
    assert [setting.key for setting in tree.settings] == ["a.b", "key", "c", "key"]
    assert tree.paths[1] == tree.paths[3]


@pytest.mark.proves("S4")
def test_text_and_end_of_an_element_stand_under_it():
    lines = ["<a>", "  <b>", "words", "  </b>", "  <c/>", "</a>"]

    assert tree_of(lines, marked_up=True).parents == [-1, 0, 1, 1, 0, 0]


@pytest.mark.proves("S4")
def test_elements_in_a_row_stand_as_deep_as_their_tags_say():
    tree = tree_of_elements(["<a>", "<b>", "<c/>", "<d>1</d>", "</b>", "<e>", "</e>", "</a>"])

    assert tree.parents == [-1, 0, 1, 1, 1, 0, 5, 0]


@given(
    st.lists(st.text(alphabet="ab:-#[]= \t\"'</>", max_size=12), min_size=1, max_size=60),
    st.booleans(),
)
def test_any_lines_are_a_tree(lines, marked_up):
    for tree in tree_of(lines, marked_up=marked_up), tree_of_elements(lines):
        is_whole(tree)


def is_whole(tree):
    for number, parent in enumerate(tree.parents):
        assert parent < number < tree.stops[number]
        assert parent < 0 or tree.stops[number] <= tree.stops[parent]
    things = sorted(number for thing in tree.things for number in thing)
    assert len(things) == len(set(things))
