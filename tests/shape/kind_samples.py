"""Short outputs of every kind, written for the tests as the tools print them."""

SAMPLES: tuple[tuple[str, str, str], ...] = (
    ("json", "object", '{\n  "name": "headgate",\n  "tags": ["a", "b"]\n}\n'),
    ("json", "array of numbers", "[1, 2.5, -3e4]"),
    ("json", "array in one line", '[{"id": 1}, {"id": 2}]'),
    ("json", "empty", "[]"),
    ("jsonl", "objects", '{"id": 1, "ok": true}\n{"id": 2, "ok": false}\n{"id": 3, "ok": true}\n'),
    ("csv", "quoted", 'id,name,city\n1,Ann,"Bonn, am Rhein"\n2,Bob,Ulm\n3,Cem,Kiel\n'),
    ("csv", "dates first", "date,open,close\n2000-01-03,1.5,2.5\n2000-01-04,1.6,2.4\n"),
    ("csv", "last cells empty", "id,name,city,note\n1,Ann,Bonn,\n2,Bob,Ulm,\n3,Cem,Kiel,new\n"),
    (
        "csv",
        "times last",
        "EWR,2013,10,1,2013-10-01T04:00:00Z\nJFK,2013,10,2,2013-10-01T05:00:00Z\n"
        "LGA,2013,10,3,2013-10-01T06:00:00Z\n",
    ),
    (
        "csv",
        "last cells mostly empty",
        "a,b,c,d,e\n1,2,3,4,\n5,6,7,8,\n9,8,7,6,\n",
    ),
    (
        "csv",
        "many columns",
        "".join(",".join(f"{row}-{column}" for column in range(90)) + "\n" for row in range(9)),
    ),
    (
        "table",
        "of a database",
        "+----+------+\n| id | name |\n+----+------+\n"
        "| 1  | Ann  |\n| 2  | Bob  |\n+----+------+\n",
    ),
    (
        "table",
        "drawn",
        "┌────┬──────┐\n│ id │ name │\n├────┼──────┤\n"
        "│ 1  │ Ann  │\n│ 2  │ Bob  │\n└────┴──────┘\n",
    ),
    (
        "trace",
        "threads",
        "2026-11-15 20:00:00\nFull thread dump OpenJDK 64-Bit Server VM (17.0.21+9):\n\n"
        '"main" #1 prio=5 os_prio=0\n   java.lang.Thread.State: BLOCKED\n'
        "\tat Bank.pay(Bank.java:12)\n\tat Bank.main(Bank.java:30)\n\n"
        "Found one Java-level deadlock:\n=============================\n",
    ),
    (
        "build",
        "docker",
        "#6 [2/4] RUN make\n#6 0.431 compiling\n#6 26.43 error: no such file\n#6 ERROR: exit 2\n",
    ),
    (
        "test",
        "behave",
        "Feature: Transfers\n\n2 features passed, 1 failed, 0 skipped\n"
        "78 scenarios passed, 1 failed, 0 skipped\nTook 0min 0.034s\n",
    ),
    (
        "code",
        "manifests",
        "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n"
        "  type: ClusterIP\n  ports:\n    - port: 80\n",
    ),
    (
        "code",
        "what changed, as YAML",
        "ancestor: null\nreleases:\n  1.0.0:\n    changes:\n      bugfixes:\n"
        "      - login - fix how a long text\n        is written (https://example.org/1).\n"
        "      minor_changes:\n      - run - now faster.\n    release_date: '2026-01-02'\n",
    ),
    (
        "log",
        "of a shell",
        "dev@box:~/shop$ ls -la\n-rw-r--r-- 1 dev dev 12 Nov 15 10:00 a.c\n"
        "-rw-r--r-- 1 dev dev 12 Nov 15 10:00 b.c\n-rw-r--r-- 1 dev dev 12 Nov 15 10:00 c.c\n"
        "dev@box:~/shop$ ./calc 1+\nSegmentation fault\n",
    ),
    ("test", "eunit", "lists: reverse (module 'a')...ok\nFailed: 3.  Skipped: 0.  Passed: 177.\n"),
    ("test", "testthat", "Test passed\n[ FAIL 6 | WARN 2 | SKIP 1 | PASS 129 ]\n"),
    ("test", "mix", "  1) test waits\n     code: assert x\n\n264 tests, 4 failures\n"),
    (
        "log",
        "of redis",
        "815:C 15 Nov 2026 18:37:50.040 # Redis is starting\n"
        "815:M 15 Nov 2026 18:37:50.041 * Running mode=standalone, port=6379.\n"
        "815:M 15 Nov 2026 18:37:50.042 # Server initialized\n",
    ),
    ("tsv", "plain", "id\tname\tcity\n1\tAnn\tBonn am Rhein\n2\tBob\tUlm\n3\tCem\tKiel\n"),
    (
        "table",
        "ps",
        "    PID TTY          TIME CMD\n      1 ?        00:00:04 systemd\n"
        "    812 ?        00:00:00 sshd\n  10233 pts/0    00:00:01 bash\n",
    ),
    (
        "table",
        "df",
        "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
        "/dev/sda1      102687672 40012344  57416068  42% /\n"
        "tmpfs            8178120        0   8178120   0% /dev/shm\n"
        "/dev/sdb1      515928320 99012344 390668472  21% /data\n",
    ),
    (
        "table",
        "kubectl",
        "NAME                     READY   STATUS    RESTARTS   AGE\n"
        "api-7d9c5b6f4-x2x7k      1/1     Running   0          3d\n"
        "worker-6c8d7f9b5-q9z1m   0/1     Error     12         3d\n"
        "db-0                     1/1     Running   1          9d\n",
    ),
    (
        "table",
        "two columns under a rule",
        "Package    Version\n---------- -------\nhypothesis 6.170.1\nruff       0.17.4\n",
    ),
    (
        "log",
        "timestamps",
        "2026-01-31 12:00:01,123 INFO worker: started\n"
        "2026-01-31 12:00:02,456 WARNING worker: slow, 3 s\n"
        "2026-01-31 12:00:05,789 ERROR worker: gave up\n",
    ),
    (
        "log",
        "syslog",
        "Jan 31 12:00:01 host sshd[812]: Accepted publickey for ann\n"
        "Jan 31 12:00:03 host sshd[812]: session opened for user ann\n"
        "Jan 31 12:01:00 host CRON[900]: (root) CMD (run-parts /etc/cron.hourly)\n",
    ),
    (
        "log",
        "levels only",
        "INFO:root:loaded 12 rules\nWARNING:root:rule 3 is shadowed\nERROR:root:no rule left\n",
    ),
    (
        "log",
        "access log",
        '10.0.0.1 - - [31/Jan/2026:12:00:01 +0000] "GET / HTTP/1.1" 200 512\n'
        '10.0.0.2 - - [31/Jan/2026:12:00:02 +0000] "GET /a HTTP/1.1" 404 19\n',
    ),
    (
        "test",
        "pytest",
        "============ test session starts ============\ncollected 3 items\n\n"
        "tests/test_gate.py ..F                 [100%]\n\n======== FAILURES ========\n"
        "E   assert 1 == 2\n===== 1 failed, 2 passed in 0.12s =====\n",
    ),
    (
        "test",
        "pytest quiet",
        "...F.                                    [100%]\n4 passed, 1 failed in 0.31s\n",
    ),
    (
        "test",
        "unittest",
        "..F.\n------------------\nRan 4 tests in 0.001s\n\nFAILED (failures=1)\n",
    ),
    (
        "test",
        "jest",
        "PASS src/sum.test.js\nFAIL src/div.test.js\n  ✕ divides (5 ms)\n\n"
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total\n",
    ),
    ("test", "go", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.org/a\t0.012s\n"),
    ("test", "go packages", "ok  \texample.org/a\t0.012s\nok  \texample.org/b\t(cached)\n"),
    (
        "test",
        "cargo",
        "running 2 tests\ntest tests::adds ... ok\ntest tests::fails ... FAILED\n\n"
        "test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 0.00s\n",
    ),
    ("test", "rspec", "..F\n\nFailures:\n\n  1) Gate opens\n\n3 examples, 1 failure\n"),
    ("test", "tap", "TAP version 13\n1..2\nok 1 - opens\nnot ok 2 - closes\n"),
    ("test", "mocha", "\n  Gate\n    ✓ opens\n    1) closes\n\n  1 passing (8ms)\n  1 failing\n"),
    (
        "test",
        "gtest",
        "[ RUN      ] Gate.Opens\n[       OK ] Gate.Opens (0 ms)\n[  PASSED  ] 1 test.\n",
    ),
    (
        "test",
        "surefire",
        "Running org.example.GateTest\nTests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
    ),
    (
        "build",
        "gcc",
        "gate.c: In function 'open':\ngate.c:12:5: error: expected ';' before 'return'\n"
        "gate.c:14:1: warning: control reaches end of non-void function\n",
    ),
    (
        "build",
        "make",
        "make[1]: Entering directory '/src'\ncc -O2 -c gate.c\nmake: *** [all] Error 2\n",
    ),
    (
        "build",
        "cargo",
        "   Compiling gate v0.1.0 (/src)\nerror[E0308]: mismatched types\n --> src/main.rs:4:5\n",
    ),
    (
        "build",
        "npm",
        "npm warn deprecated glob@7\n\nadded 120 packages in 3s\n\nfound 0 vulnerabilities\n",
    ),
    (
        "build",
        "pip",
        "Collecting six\n  Downloading six-1.17.0.whl (11 kB)\nSuccessfully installed six-1.17.0\n",
    ),
    (
        "build",
        "maven",
        "[INFO] Scanning for projects...\n[INFO] BUILD FAILURE\n[INFO] Total time:  2 s\n",
    ),
    ("build", "gradle", "> Task :compileJava\n> Task :test FAILED\n\nBUILD FAILED in 2s\n"),
    (
        "build",
        "mypy",
        "src/a.py:3: error: Missing return statement  [return]\nFound 1 error in 1 file\n",
    ),
    (
        "build",
        "tsc",
        "src/a.ts(70,52): error TS2353: Object literal may only specify known properties\n",
    ),
    ("build", "ruff", "src/a.py:1:1: D100 Missing docstring\nsrc/a.py:9:80: E501 Line too long\n"),
    (
        "build",
        "ci",
        'travis_fold:start:git\n$ git clone --depth=50\nThe command "make" exited with 2.\n',
    ),
    (
        "trace",
        "python",
        'Traceback (most recent call last):\n  File "gate.py", line 3, in <module>\n    open()\n'
        "ValueError: no gate\n",
    ),
    (
        "trace",
        "java",
        'Exception in thread "main" java.lang.IllegalStateException: shut\n'
        "\tat org.example.Gate.open(Gate.java:12)\n\tat org.example.Main.main(Main.java:5)\n"
        "Caused by: java.io.IOException: gone\n\t... 2 more\n",
    ),
    (
        "trace",
        "node",
        "/src/gate.js:3\n  throw new Error('shut')\n  ^\n\nError: shut\n"
        "    at open (/src/gate.js:3:9)\n    at Object.<anonymous> (/src/gate.js:6:1)\n"
        "    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n",
    ),
    (
        "trace",
        "go",
        "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\n"
        "main.open(...)\n\t/src/main.go:8\nmain.main()\n\t/src/main.go:4 +0x1d\n",
    ),
    (
        "diff",
        "git",
        "diff --git a/gate.py b/gate.py\nindex 1234567..89abcde 100644\n--- a/gate.py\n"
        "+++ b/gate.py\n"
        "@@ -1,3 +1,3 @@\n import os\n-x = 1\n+x = 2\n",
    ),
    ("diff", "unified", "--- a.txt\t2026-01-01\n+++ b.txt\t2026-01-02\n@@ -1 +1 @@\n-old\n+new\n"),
    ("diff", "plain", "3c3\n< old line\n---\n> new line\n7d6\n< gone\n"),
    (
        "diff",
        "one commit with its change",
        "commit 1234567890abcdef1234567890abcdef12345678\nAuthor: Ann <ann@example.org>\n"
        "Date:   Sat Jan 31 12:00:00 2026\n\n    Open the gate\n\ndiff --git a/g b/g\n"
        "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
    ),
    (
        "git-log",
        "full",
        "commit 1234567890abcdef1234567890abcdef12345678\nAuthor: Ann <ann@example.org>\n"
        "Date:   Sat Jan 31 12:00:00 2026\n\n    Open the gate\n\n"
        "commit abcdef1234567890abcdef1234567890abcdef12\nAuthor: Bob <bob@example.org>\n"
        "Date:   Fri Jan 30 12:00:00 2026\n\n    Close the gate\n",
    ),
    (
        "git-log",
        "one line each",
        "1a2b3c4 (HEAD -> main) Open the gate\n5d6e7f8 Close it\n9a0b1c2 Build it\n",
    ),
    ("git-log", "graph", "* 1a2b3c4 Open the gate\n* 5d6e7f8 Close it\n| * 9a0b1c2 Build it\n"),
    (
        "search",
        "numbered",
        "src/a.py:12:import os\nsrc/a.py:40:    import re\nsrc/b.py:3:import os\n",
    ),
    (
        "search",
        "with context",
        "src/a.py-11-\nsrc/a.py:12:import os\nsrc/a.py-13-import re\n--\nb.py:3:import os\n",
    ),
    (
        "search",
        "under headings",
        "src/a.py\n12:import os\n40:    import re\n\nsrc/b.py\n3:import os\n",
    ),
    ("search", "one file", "12:import os\n40:    import re\n97:import sys\n"),
    ("search", "unnumbered", "src/a.py:import os\nsrc/a.py:    import re\nsrc/b.py:import os\n"),
    (
        "listing",
        "ls -l",
        "total 12\ndrwxr-xr-x 2 ann ann 4096 Jan 31 12:00 src\n"
        "-rw-r--r-- 1 ann ann  120 Jan 31 12:00 a.py\n",
    ),
    ("listing", "ls", "Makefile\nREADME.md\nsrc/\ntests/\n"),
    ("listing", "find", "./src/a.py\n./src/b.py\n./tests\n./tests/test_a.py\n"),
    ("listing", "tree", ".\n├── src\n│   ├── a.py\n│   └── b.py\n└── tests\n    └── test_a.py\n"),
    ("listing", "git status", " M src/a.py\n?? src/b.py\nA  tests/test_a.py\n"),
    ("listing", "du", "4.0K\t./src\n12K\t./tests\n16K\t.\n"),
    (
        "html",
        "page",
        "<!DOCTYPE html>\n<html>\n<head><title>Gate</title></head>\n<body>\n"
        '<div class="a">Open</div>\n</body>\n</html>\n',
    ),
    (
        "markdown",
        "readme",
        "# Gate\n\nKeeps water out, see [the docs](https://example.org).\n\n## Install\n\n"
        "```\npip install gate\n```\n\n- one\n- two\n",
    ),
    (
        "markdown",
        "with code",
        "# Use\n\n```python\nimport gate\n\ndef open():\n    return gate.open()\n```\n\n"
        "**Note** what it returns.\n",
    ),
    (
        "prose",
        "plain",
        "The gate decides how much water enters the channel. What does not fit goes over the\n"
        "spillway, and nobody downstream has to know how high the river stood.\n",
    ),
    ("prose", "one line", "The file was updated.\n"),
    ("prose", "blank", " \n\n"),
    (
        "prose",
        "manual page",
        "NAME\n       ls - list directory contents\n\nDESCRIPTION\n"
        "       List  information  about the files, the current directory by default.  Sort\n"
        "       entries alphabetically if none of the sort options is given.\n",
    ),
)
"""Kind, which tool or form, and the text."""

SOURCES: tuple[tuple[str, str], ...] = (
    ("python", "import os\n\n\nclass Gate:\n    def open(self):\n        return os.getpid()\n"),
    (
        "javascript",
        "const fs = require('fs')\n\nfunction open(path) {\n  return fs.readFileSync(path)\n}\n",
    ),
    (
        "typescript",
        "import { a } from './a'\n\nexport interface Gate {\n  open: boolean\n  name?: string\n"
        "}\n\n"
        "export function shut(g: Gate): void {\n  g.open = false\n}\n",
    ),
    (
        "go",
        'package main\n\nimport (\n\t"fmt"\n\t"io"\n\t"os"\n)\n\ntype Gate struct {\n'
        "\tOpen bool\n}\n",
    ),
    ("go", 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("open")\n}\n'),
    (
        "rust",
        "use std::fs;\n\npub fn open(path: &str) -> String {\n    let text = read(path);\n"
        "    text\n}\n",
    ),
    (
        "java",
        "package org.example;\n\nimport java.util.List;\n\npublic class Gate {\n"
        "    private int height;\n    public int height() { return height; }\n}\n",
    ),
    (
        "c",
        '#include <stdio.h>\n\n#define MAX 10\n\nint main(void) {\n    printf("open");\n'
        "    return 0;\n}\n",
    ),
    (
        "cpp",
        "#include <vector>\n\nnamespace gate {\nclass Gate {\npublic:\n"
        "    std::vector<int> heights;\n};\n}\n",
    ),
    ("ruby", "require 'json'\n\nclass Gate < Base\n  def open(at)\n    @at = at\n  end\nend\n"),
    ("shell", '#!/bin/bash\nset -e\nif [ -f gate ]; then\n  echo "open"\nfi\n'),
    (
        "sql",
        "CREATE TABLE gates (\n  id INTEGER PRIMARY KEY\n);\n\nSELECT id\nFROM gates\n"
        "WHERE id > 3\nORDER BY id;\n",
    ),
    (
        "css",
        ".gate {\n  color: red;\n  margin: 0;\n}\n\n@media print {\n"
        "  .gate { display: none; }\n}\n",
    ),
    ("php", "<?php\n\n$gate = new Gate();\n$gate->open = true;\n"),
    (
        "kotlin",
        "data class Gate(val open: Boolean)\n\nfun open(g: Gate) {\n    val height = 3\n"
        "    println(height)\n}\n",
    ),
    (
        "swift",
        "import Foundation\n\nfunc open(gate: String) -> Bool {\n"
        "    guard let g = find(gate) else { return false }\n    return true\n}\n",
    ),
    (
        "yaml",
        "name: ci\non: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n"
        "      - run: make test\n",
    ),
    ("toml", '[project]\nname = "gate"\nversion = "1.0"\n\n[tool.ruff]\nline-length = 100\n'),
    ("dockerfile", "FROM python:3.11 AS base\nWORKDIR /src\nCOPY . .\nRUN pip install .\n"),
)
"""Language, and a text in it."""
