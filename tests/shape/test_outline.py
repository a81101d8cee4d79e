import pytest

from headgate.shape.outline import body_of, name_defined, outline_of

DEFINITIONS = {
    "python": "    async def run(self, plan):",
    "javascript": "export default async function load(path) {",
    "arrow": "const handle = async (event) => {",
    "typescript": "export interface Policy {",
    "go": "func (g *Gate) Admit(batch []Result) error {",
    "rust": "pub(crate) fn admit(&self) -> Result<()> {",
    "java": "    public static void main(String[] args) {",
    "c": "static int read_all(int fd, char *to) {",
    "method": "  render(props: Props): Element {",
    "sql": "CREATE TABLE runs (",
    "constant": "MOST_BYTES = 4096",
    "test": "  it('keeps the limit', () => {",
}


@pytest.mark.proves("S10")
@pytest.mark.parametrize("language", DEFINITIONS)
def test_a_definition_is_found_in_many_languages(language):
    line = DEFINITIONS[language]

    assert [number for number, _ in outline_of(["x", line, "y"]).defined] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "    return total(values)",
        "if (a > b) {",
        "total = add(a, b)",
        "# def not_code",
        "while (x) {",
    ],
)
def test_a_line_of_a_body_is_no_definition(line):
    assert [*outline_of([line]).defined] == []


@pytest.mark.parametrize(
    "line", ["import os", "from a import b", "#include <stdio.h>", "use std::io;", "} from './x'"]
)
def test_imports_are_found(line):
    assert outline_of([line]).imports == [0]


def test_line_numbers_before_the_lines_are_looked_past():
    lines = [
        f"{i:>6}→{line}" for i, line in enumerate(["import os", "x = 1", "def f():", "  pass"])
    ]
    outline = outline_of(lines)

    assert outline.imports == [0]
    assert [*outline.defined] == [(2, 0)]


def test_inner_definitions_stand_deeper():
    lines = ["\tdef a():", "    @cached", "    def b():", "class Gate:", "@frozen", " def c():"]

    assert [*outline_of(lines).defined] == [(3, 0), (4, 1), (5, 1), (0, 4), (2, 4), (1, 5)]


NAMES = {
    "python": "run",
    "javascript": "load",
    "arrow": "handle",
    "typescript": "Policy",
    "go": "Admit",
    "rust": "admit",
    "java": "main",
    "c": "read_all",
    "method": "render",
    "sql": "runs",
    "constant": "MOST_BYTES",
    "test": "",
}


@pytest.mark.proves("S4")
@pytest.mark.parametrize("language", DEFINITIONS)
def test_the_name_of_a_definition_is_known(language):
    assert name_defined(DEFINITIONS[language]) == NAMES[language]


@pytest.mark.parametrize("line", ["", "    total(values)", "return run(plan)", "x" * 500 + "() {"])
def test_a_line_that_defines_nothing_has_no_name(line):
    assert name_defined(line) == ""


@pytest.mark.parametrize(
    "lines",
    [
        ["def f(", "    a,", ") -> int:", "    return a"],
        ["int f(int a)", "{", "    return a;", "", "    /* x */", "}"],
        ["\tfunction f() {", "\t\tgo();", "\t}"],
        ["class A:", "    def f(self):", "", "        pass"],
    ],
)
def test_a_body_goes_as_far_as_lines_stand_deeper(lines):
    text = ["import x", *lines, "", "y = 1", "    z()"]

    assert body_of(text, 1) == range(1, 1 + len(lines))
