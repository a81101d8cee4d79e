import pytest

from headgate.shape.keyed import is_keyed, is_marked_up, is_marked_up_in_a_row

YAML = """\
# What runs where.
services:
  web:
    image: shop/web:1.2
    ports:
      - "80:80"
  db:
    image: postgres:15
volumes:
  data:
"""

KEYED = {
    "yaml": YAML,
    "several documents": f"---\n{YAML}---\n{YAML}",
    "a list of maps": (
        "- name: a\n  hosts: all\n  tasks:\n    - debug:\n        msg: hi\n      when: x\n"
        "- name: b\n  hosts: web\n"
    ),
    "long texts under keys": (
        "releases:\n  1.0.0:\n    changes:\n      bugfixes:\n      - fixed what was broken\n"
        "        for a long time (https://example.org/1).\n    date: '2026-01-02'\n"
        "  1.1.0:\n    changes:\n      minor:\n      - added this\n    date: '2026-02-02'\n"
    ),
    "toml": '[project]\nname = "a"\nversion = "1"\nfiles = [\n  "x",\n]\n\n[tool.b]\nc = 1\nd = 2',
    "ini": "; how it runs\n[server]\nport=80\nhost=local\n\n[client]\nretries=3\nwait=4\nlog=a\n",
    "blocks in braces": (
        'variable "region" {\n  default = "west"\n}\n\nresource "bucket" "logs" {\n'
        '  name = "logs"\n  rule {\n    days = 30\n  }\n}\n'
    ),
    "directives": (
        "user www;\nevents {\n    connections 768;\n}\nhttp {\n    gzip on;\n    server {\n"
        "        listen 80;\n    }\n}\n"
    ),
    "keys like words of programs": (
        '[package]\nname = "a"\n\n[package.dependencies]\nasync-timeout = "*"\nimport = "1"\n'
        'type = "x"\nstatic = 1\n'
    ),
    "a report": (
        "Name:         web-1\nNamespace:    prod\nContainers:\n  app:\n    Image:  shop:1\n"
        "    State:  Running\nService Account:  default\nEvents:  <none>\n"
    ),
}

OTHERS = {
    "prose": "A note on keys: they open doors.\nThe rest is air.\n" * 5,
    "a talk": "Ann: hello\nBob: hello to you\nAnn: how are you?\nBob: well\nAnn: good\nBob: yes\n",
    "headers": "HTTP/1.1 200 OK\nserver: a\ndate: b\nage: 1\nvary: c\nvia: d\n",
    "facts side by side": "Architecture: x86_64\nCores: 2\nModel: 7\nVendor: a\nFlags: b\nBogo: c",
    "python": "import os\n\nX = 1\n\nclass A:\n    y: int = 1\n\n    def b(self):\n        pass\n",
    "python without imports": (
        "def a(b):\n    return b\n\ndef c(d):\n    return d\n\n"
        "class E:\n    f = 1\n    g = 2\n    h = 3\n"
    ),
    "make": (
        "CC = gcc\nall: a b\n\tgcc -o a a.c\n\tgcc -o b b.c\nclean:\n\trm -f a b\n"
        "x: y\n\ttouch x\nz: x\n"
    ),
    "a log": (
        "INFO: started\nWARNING: slow\n  at a.b(c)\nINFO: went on\nERROR: stopped\nINFO: end\n"
    ),
    "markdown": "# Title\n\nWords: many.\n\n- one: a\n- two: b\n\nMore words here\n",
    "css": ".a {\n  color: red;\n  width: 1px;\n}\n.b {\n  color: blue;\n}\n",
    "go": "package a\n\nvar (\n\tx = 1\n\ty = 2\n)\n\nfunc b() {\n\tz := 1\n}\n",
    "rust": "use a::b;\n\npub struct C {\n    d: u8,\n    e: u8,\n}\n\nstruct F {\n    g: u8,\n}\n",
    "c": "typedef int a;\nstruct b {\n    int c;\n    int d;\n};\nint e;\nint f;\nint g;\n",
    "a script": "A=1\nB=2\nfor i in 1 2; do\n  c: 3\n  d: 4\ndone\nE=5\nF=6\n",
    "too little": "a: 1\nb:\n  c: 2\n",
}


@pytest.mark.proves("S3")
@pytest.mark.parametrize("name", KEYED)
def test_keys_and_values_are_known_by_what_stands_at_the_margin(name):
    assert is_keyed(KEYED[name].encode())


@pytest.mark.proves("S3")
@pytest.mark.parametrize("name", OTHERS)
def test_other_texts_are_not_taken_for_them(name):
    assert not is_keyed(OTHERS[name].encode())


@pytest.mark.proves("S3")
def test_elements_are_known_on_lines_of_their_own_and_in_a_row():
    elements = [b"<a>", *[b"<b>1</b>"] * 12, b"</a>"]

    assert is_marked_up(b"\n".join(elements))
    assert is_marked_up_in_a_row(b"".join(elements))
    assert not is_marked_up(b"<a>\n" + b"Much text on <b>many</b> lines.\n" * 12 + b"</a>")
    assert not is_marked_up_in_a_row(b"<a>\n" + b"Much text, <b>few</b><i>words</i>.\n" * 12)
