"""How texts of each kind and language look, as patterns: data for `kinds`.

A trait is found or not, wherever it stands; how often does not count. So a trait says little alone,
and much together with others of the same kind. Patterns are RE2's, `^` and `$` are line ends.
"""

from __future__ import annotations

import re

TESTS: tuple[tuple[str, int], ...] = (
    (r"^=+ test (session|process) starts =+|^=+ tests finished: ", 2),
    (r"^=* ?(\d+ \w+, )*\d+ (passed|failed|errors?|skipped)\b.* in [\d.]+", 2),
    (r"^(FAILED|ERROR|PASSED) \S+\.py(::| - )", 1),
    (r"^\S+\.py(::\S+)? (PASSED|FAILED|ERROR|SKIPPED)\b|^\S+\.py [.FEsxX]+ +\[ *\d+%\]", 1),
    (r"^Ran \d+ tests? (in|across) ", 2),
    (r"^(\S+ test: )?\((pass|fail)\) \S", 2),
    (r"^ +\d+ (pass|fail)$|^bun test v", 1),
    (r"^[#ℹ] (tests|pass|fail) \d+$|^(ok|FAILED) \| \d+ passed", 2),
    (r"^(ERROR|FAIL): \w+ \([\w.]+\)|^\w+ \([\w.]+\) \.\.\. (ok|FAIL|ERROR|skipped)", 1),
    (r"^OK( \(skipped=\d+\))?$|^FAILED \((failures|errors)=\d+", 1),
    (r"^ ?(PASS|FAIL) +\S+\.(test|spec|js|ts|jsx|tsx)", 1),
    (r"^Tests: +(\d+ \w+, )*\d+ total|^Test Suites: ", 2),
    (r"^ +Test Files +\d+ |^ +Tests +\d+ (passed|failed)", 2),
    (r"^\s+[✓✔✕✗×√] ", 1),
    (r"^ +\d+ (passing|failing)\b", 2),
    (r"^=== (RUN|PAUSE|CONT) +\w", 1),
    (r"^ *--- (PASS|FAIL|SKIP): \S+ \([\d.]+s\)", 1),
    (r"^(ok  |FAIL|---|\?   ) ?\t\S+\t([\d.]+s|\(cached\)|\[)", 2),
    (r"^test \S+( - should panic)? \.\.\. (ok|FAILED|ignored)$", 1),
    (r"^test result: (ok|FAILED)\.", 2),
    (r"^running \d+ tests?$", 1),
    (r"^(\[\w+\] )?Tests run: \d+, Failures: \d+", 2),
    (r"^\d+ examples?, \d+ failures?|^rspec \./", 2),
    (r"^\d+ (tests?|scenarios?|steps?|specs?|checks?|features?)\b.*\b(fail|pass|error)", 2),
    (r"^(ok|not ok) \d+( |$)", 2),
    (r"^(PASS|FAIL|XFAIL|XPASS|SKIP|SKIPPED|UNTESTED|UNRESOLVED): \S", 2),
    (r"^TAP version \d+|^1\.\.\d+$", 1),
    (r"^(OK \(\d+ tests?|Tests: \d+, Assertions: \d+)", 2),
    (r"^\[ +(RUN|OK|FAILED|PASSED) +\] |^\[={10}\]", 2),
    (r"^\d+% tests passed, \d+ tests failed", 2),
    (r"^(Passed|Failed)! +- Failed: +\d+, Passed: +\d+", 2),
    (r"^\w+ > .* (PASSED|FAILED|SKIPPED)$", 1),
    (r"\b(FAIL|[Ff]ailed|[Ff]ailures)[ :=]{1,2}\d+\b.*\b(PASS|[Pp]assed)[ :=]{1,2}\d+\b", 2),
)
"""How test runs look, and how much that says: from 2 on it is one."""

BUILDS: tuple[tuple[str, int], ...] = (
    (r"^make(\[\d+\])?: |^gmake: ", 2),
    (r"^\[ *\d+%\] (Building|Linking|Built|Generating)", 2),
    (r"^\[\d+/\d+\] (Building|Compiling|Linking|Generating|CC|CXX)", 2),
    (r"^-- (Configuring|Generating|Detecting|Looking for|Check)", 2),
    (r"^checking (for|whether|how) .*\.\.\.", 2),
    (r"^(gcc|g\+\+|cc|c\+\+|clang|ld|ar|rustc|javac|libtool:) .*-\w", 1),
    (r"^[^\s:]+:\d+(:\d+)?: (fatal )?(error|warning|note)(:|\[)", 2),
    (r"^[^\s:]+:\d+:\d+: [A-Z]+\d+ |^ +--> \S+:\d+:\d+$", 2),
    (r"^(error|warning)(\[\w+\])?: \w", 1),
    (r"^ +(Compiling|Checking|Downloaded|Updating|Finished|Fresh|Blocking) \S+", 2),
    (r"^error: could not compile|^collect2: error|undefined reference to `", 2),
    (r"^npm (ERR!|error|WARN|warn|notice|http|info)\b|^yarn (install|run) v\d", 2),
    (r"^\[\d/\d\] .*\.\.\.$", 1),
    (r"^(added|removed|changed|up to date).* \d+ packages?\b|^found \d+ vulnerabilities", 2),
    (r"^(Collecting|Downloading|Using cached|Requirement already satisfied:) \S", 2),
    (r"^(Installing collected packages:|Building wheels? for) ", 2),
    (r"^Successfully (installed|built) |^ERROR: (Could not|No matching|Failed building)", 2),
    (r"^\[(INFO|ERROR|WARNING)\] (BUILD|Scanning|-{10}|Building|Finished|Total time)", 2),
    (r"^\[(INFO|ERROR|WARNING)\] (Compiling|COMPILATION|Downloading|Failed)", 2),
    (r"^> Task :|^BUILD (SUCCESSFUL|FAILED)( in|$)|^FAILURE: Build failed", 2),
    (r"^(Step \d+/\d+ :|#\d+ (\[|DONE|ERROR|CACHED|\d+\.\d+ ))|^ ---> [0-9a-f]{12}$", 2),
    (r"^(Get|Hit|Ign):\d+ https?://", 2),
    (r"^psql:\S+:\d+: [A-Z]+: |^ERROR \d+ \(\w+\) at line \d+: |^\w+ error near line \d+: ", 2),
    (r"^(TASK|PLAY|RUNNING HANDLER|PLAY RECAP) (\[.*\] )?\*{3}", 2),
    (r"^(Setting up|Unpacking|Preparing to unpack|Selecting previously) ", 2),
    (r"^Reading package lists|^Building dependency tree", 2),
    (r"\berror TS\d+: ", 2),
    (r"^ERROR in \S|^webpack [\d.]+ compiled|^asset \S+ [\d.]+ [KM]iB", 1),
    (r"^ +\d+:\d+ +(error|warning) +.+ +[\w@/-]+$|^✖ \d+ problems", 2),
    (r"^(Found \d+ errors? in \d+ files?|Success: no issues found in|All checks passed!)", 2),
    (r"^(Checked|Fixed) \d+ files? in |^ ?(at )?\S+:\d+:\d+ (lint|format|assist)[/ ]", 2),
    (r"^ninja: |^(INFO|ERROR|DEBUG): (Analyzed|Elapsed|Build|Found \d+ target)", 1),
    (r"^\$ (git|bundle|npm|pip|mvn|gradle|make|cargo|go|docker|export|cd|\./)", 2),
    (r"^\+{1,3} (set|source|export|cd|git|pip|python|make|curl|apt-get|echo|conda) ", 1),
    (r"^(Cloning into '|remote: (Counting|Enumerating|Compressing)|Receiving objects:)", 1),
    (r"^(Fetching|Installing|Using) [\w-]+ [\d.]+$|^Bundle complete", 1),
    (r"^go: (downloading|finding|extracting) |^# [\w./-]+\.[a-z]+/[\w./-]+$", 1),
)
"""How builds, installs, linters and CI logs look; from 2 on it is one."""

TRACES: tuple[str, ...] = (
    r"^\s*Traceback \(most recent call last\):",
    r'^\s*File "[^"]+", line \d+(, in .+)?$',
    r"^(Exception in thread \".*\"|Caused by:) \S",
    r"^\s+at [\w.$/<>]+(\.[\w$<>]+)?\(([\w.]+:\d+|Native Method|Unknown Source)\)",
    r"^\s+at (async )?(.+ \()?\S+:\d+:\d+\)?$",
    r"^(panic|fatal error): \w",
    r"^goroutine \d+ \[.+\]:$",
    r"^thread '.*' (\(\d+\) )?panicked at ",
    r"^stack backtrace:$",
    r"^\s+from \S+:\d+:in [`'].+'$",
    r"^#\d+ +(0x[0-9a-f]+ in )?\S+ \(.*\)( at \S+:\d+)?$",
    r"^\w*(Error|Exception): \w",
)
"""How stack traces look, wherever they stand."""

LANGUAGES: tuple[tuple[str, str, int], ...] = (
    ("python", r"^\s*(async )?def \w+\(", 3),
    ("python", r"^\s*class \w+(\(.*\))?:", 3),
    ("python", r"^from [\w.]+ import \S", 4),
    ("python", r"^import [\w.]+( as \w+)?$", 3),
    ("python", r"^\s*(elif .+|try|finally|except( .+)?):$", 2),
    ("python", r"^\s*(if|for|while|with) .+:$", 2),
    ("python", r"^\s*(self\.\w+ = |@\w+|return \w|raise \w+\(|assert |yield )", 1),
    ("javascript", r"^(import|export) .*\bfrom ['\"]", 4),
    ("javascript", r"^\s*(export (default )?)?(async )?function\b", 3),
    ("javascript", r"^\s*(export )?(const|let|var) [\w{\[].*=", 3),
    ("javascript", r"\brequire\(['\"]", 2),
    ("javascript", r"=> ?[{(]?$", 2),
    ("javascript", r"^\s*(describe|it|test)\(['\"`]", 2),
    ("javascript", r"\b(console\.\w+\(|module\.exports|document\.\w)", 2),
    ("javascript", r" [!=]== ", 1),
    ("javascript", r"^(export default|module\.exports =|export \{)", 4),
    ("typescript", r"^\s*(export )?(declare )?(interface|namespace|enum) \w+.*\{$", 3),
    ("typescript", r"^\s*(export )?type \w+(<.+>)? =", 4),
    ("typescript", r"^import type ", 5),
    ("typescript", r"[\w)]\??: (string|number|boolean|void|any|unknown|Promise<)", 3),
    ("typescript", r"^\s*(private|public|protected) (readonly |async )", 3),
    ("go", r"^package \w+$", 5),
    ("go", r"^func (\(\w+ \*?\w+\) )?\w+\(", 4),
    ("go", r"\bif err != nil \{", 4),
    ("go", r"^import (\(|\")", 3),
    ("go", r"^type \w+ (struct|interface) \{", 4),
    ("go", r"^\s*\w+(, \w+)* := ", 2),
    ("rust", r"^\s*(pub(\(\w+\))? )?(async |const |unsafe )*fn \w+[(<]", 4),
    ("rust", r"^\s*(pub )?use [\w:]+::", 3),
    ("rust", r"^\s*impl\b.*\{$", 4),
    ("rust", r"^\s*pub (struct|enum|trait|mod) \w+", 3),
    ("rust", r"^\s*let (mut )?\w+(: [^=]+)? = ", 2),
    ("rust", r"^\s*#!?\[\w", 3),
    ("rust", r"\.(unwrap|clone|iter|into)\(\)", 1),
    ("java", r"^package [\w.]+;", 4),
    ("java", r"^import (static )?[a-z]\w*(\.[\w*]+)+;", 4),
    ("java", r"^\s*(public|private|protected) [\w<>\[\], .?]+[({;]", 3),
    ("java", r"^\s*@(Override|Test|Autowired|Inject|Deprecated|Nullable)\b", 3),
    ("java", r"\b(System\.out\.|throws \w|new \w+<)", 2),
    ("csharp", r"^\s*using [A-Z][\w.]+;", 4),
    ("csharp", r"^\s*namespace [A-Z][\w.]+( \{|;|$)", 4),
    ("csharp", r"\{ get; ", 3),
    ("kotlin", r"^\s*((private|internal|override|suspend|inline|open) )*fun [\w<. ]+\(", 4),
    ("kotlin", r"^\s*(data|sealed) class \w", 4),
    ("kotlin", r"^\s*(private |override )?va[lr] \w+(: [A-Z]\w*\??)? ?(=|by )", 3),
    ("swift", r"^\s*((private|public|internal|static|override|@\w+) )*func \w+[(<]", 3),
    ("swift", r"^import (Foundation|UIKit|SwiftUI|Combine|XCTest)$", 5),
    ("swift", r"\b(guard let|if let)\b|: (String|Int|Bool|Double)\b", 2),
    ("c", r"^\s*#\s*include [<\"]", 4),
    ("c", r"^\s*#\s*(define|ifdef|ifndef|endif|pragma)\b", 3),
    ("c", r"^((static|inline|extern|const|unsigned) )*(int|void|char|size_t|bool) \*?\*?\w+\(", 3),
    ("c", r"^((static|extern|const) )*struct \w+ \*?\*?\w+\(", 3),
    ("c", r"^(typedef )?(struct|union|enum)( \w+)? ?\{$", 3),
    ("c", r"\w->\w", 1),
    ("cpp", r"\b(std::|template ?<|nullptr\b|constexpr )", 4),
    ("cpp", r"^\s*(public|private|protected):$", 3),
    ("cpp", r"^\s*(namespace \w*|class \w+( final)?( : public .+)?) ?\{$", 3),
    ("ruby", r"^\s*(require|require_relative|include|attr_accessor|attr_reader) ['\":A-Z]", 4),
    ("ruby", r"^\s*def (self\.)?[\w?!=]+(\(.*\)| \w.*)?$", 3),
    ("ruby", r"^\s*end$", 2),
    ("ruby", r"\bdo( \|.+\|)?$", 2),
    ("ruby", r"^\s*(module|class) [A-Z]\w*( < [A-Z][\w:]*)?$", 3),
    ("php", r"<\?php\b", 8),
    ("php", r"^\s*\$\w+(->\w+)? ?=", 2),
    ("php", r"^\s*(public|private|protected)( static)? function \w", 4),
    ("shell", r"\A#!.*\b(ba|z|da|k)?sh\b", 8),
    ("shell", r"^\s*(fi|done|esac)$", 3),
    ("shell", r"^\s*(if|elif|while) (\[|test |! ).*; (then|do)$", 4),
    ("shell", r"^\s*(export |local |readonly )?[A-Z_][A-Z0-9_]+=[\"$'\w(]", 2),
    ("shell", r"^\s*\w+\(\) ?\{$", 3),
    ("shell", r"^\s*(echo|set -|source|cd|mkdir|exit) ?[\w\"'$/-]", 2),
    (
        "sql",
        r"^\s*(?i:create (or replace )?(unique )?(table|index|view|function|trigger|database))\b",
        5,
    ),
    ("sql", r"^\s*(?i:select\b|insert into|alter table|drop table|update \w+ set)", 3),
    ("sql", r"^\s*(?i:from|where|group by|order by|left join|inner join|primary key) .*[^.:]$", 2),
    (
        "css",
        r"^\s*(margin|padding|color|display|font-\w+|width|height|background|border)\b.*: ?.*;$",
        4,
    ),
    ("css", r"^[.#][a-zA-Z][\w-]*( [.#>\w-]+)* \{$", 4),
    ("css", r"^@(media|import|keyframes|font-face|charset|supports)\b", 4),
    ("xml", r"\A\s*<\?xml ", 8),
    ("xml", r"\A\s*<[a-zA-Z][\w:.\-]*[ >]", 4),
    ("xml", r"^\s*</[a-zA-Z][\w:.\-]*>$", 3),
    ("yaml", r"^---$|\A---\n", 2),
    ("yaml", r"^[\w./\-]+:$", 2),
    ("yaml", r"^ +(- )?[\w./\-]+: [^\s{(]", 2),
    ("yaml", r"^ *- \w", 1),
    ("yaml", r"^(apiVersion|kind|metadata|services|version|jobs|on|name|steps|image): ?", 3),
    ("toml", r"^\[\[?[\w.\-\"]+\]\]?$", 4),
    ("toml", r"^[\w.\-\"]+ ?= ?([\"'\[{0-9]|true|false)", 3),
    ("dockerfile", r"^(FROM \S+( AS \w+)?$|WORKDIR /|ENTRYPOINT \[|CMD \[)", 5),
    ("dockerfile", r"^(RUN|ENV|EXPOSE|ARG|COPY|ADD) \S", 3),
    ("make", r"^\.PHONY:", 7),
    ("make", r"\$\([A-Z_]+\)", 3),
    ("make", r"^(all|clean|install|test|build):( [\w./ -]*)?$", 3),
    ("lua", r"^\s*local (function )?\w+( ?=|\()", 4),
    ("lua", r"^\s*(function [\w.:]+\(|elseif .+ then$)", 3),
    ("perl", r"\A#!.*\bperl\b", 8),
    ("python", r"\A#!.*\bpython", 8),
    ("javascript", r"\A#!.*\bnode\b", 8),
    ("ruby", r"\A#!.*\bruby\b", 8),
    ("perl", r"^\s*(use strict|use warnings|my [$@%]\w+|sub \w+ \{)", 5),
    ("powershell", r"^\s*(?i:function \w+-\w+|param ?\(|\[CmdletBinding|Write-(Host|Output) )", 5),
    ("powershell", r"^\s*(?i:\$[\w:]+ ?= |(Get|Set|New|Remove)-[A-Z]\w+|foreach ?\(\$)", 3),
    ("scala", r"^\s*(case class|object|trait|implicit|override def) \w", 3),
    ("elixir", r"^\s*(defmodule [A-Z]|defp? \w+.*\bdo$)", 5),
    ("haskell", r"^(module [A-Z][\w.]* .*where|\w+ :: .+$|import qualified [A-Z])", 4),
    ("r", r" <- (function\(|c\(|\w+\()", 4),
)
"""Language, how a line of it looks, and how much that says."""

PROMPT = r"^ *(?:›|❯) \S"
STATUS = (
    r"(?i)\bcontext:? \d+%|\b\d+% context\b|\besc to interrupt\b|\bfor shortcuts\b"
    r"|\b(?:ctrl|shift) ?\+ ?\w+ to "
)
"""What the terminal of an agent ends with."""

COMMAND = r"^(\([\w.-]+\) )?[\w.-]+@[\w.-]+[: ][^\n$#%>]{0,80}[$#%] \S"
"""A command after the prompt of a shell."""

OTHERS: tuple[tuple[str, str], ...] = (
    ("shell", COMMAND),
    ("diff", r"^diff --(git|cc|combined) |^Index: \S"),
    ("diff", r"^@@ -\d+(,\d+)? \+\d+(,\d+)? @@"),
    ("diff", r"^--- \S.*\n\+\+\+ \S"),
    ("diff", r"^\*\*\* \S.*\n--- \S.*\n\*{15}"),
    ("diff", r"^\d+(,\d+)?[acd]\d+(,\d+)?\n[<>] "),
    ("crash", r"^==\d+== ?(ERROR|WARNING|ABORTING|Memcheck|HEAP SUMMARY)\b"),
    ("crash", r"^SUMMARY: \w+Sanitizer: |^(Program|Thread \d.*) received signal SIG"),
    ("crash", r"^Full thread dump |^Current thread 0x[0-9a-f]+ \(most recent call first\)"),
    ("calls", r"^(\[pid +\d+\] |\d+ +)?[a-z_0-9]+\(.*\) += (-?\d|0x[0-9a-f]|\?)"),
    ("git-log", r"\A\s*commit [0-9a-f]{7,40}\b"),
    ("git-log", r"^(Author|AuthorDate|Merge): "),
    ("ci", r"^travis_(fold|time):|##\[(group|error|section|command)\]|^::(group|error)"),
    ("ci", r"^The command \".*\" exited with \d+|^Done\. Your build exited with"),
    ("ci", r"^Running with gitlab-runner|^\[Pipeline\] |^Started by (user|timer|an SCM)"),
    ("ci", r"^Running as SYSTEM$|^Finished: (SUCCESS|FAILURE|UNSTABLE|ABORTED)$"),
    ("screen", r"^ ?[─━═]{40,} *$|^ ?─ .* ─{20,} *$"),
    ("screen", PROMPT),
    ("screen", r"^ ?[•●⏺] \S"),
    ("screen", r"^ *[└⎿] "),
    ("screen", STATUS),
    ("html", r"(?i)\A\s*(<!--.*-->\s*)?<(!doctype html|html|head|body)\b"),
    ("html", r"(?i)</(body|html|head)>"),
    ("html", r"(?i)<(div|span|table|ul|script|link|meta)[ >]"),
    ("markdown", r"^#{1,6} \S"),
    ("markdown", r"\A#{1,3} \S.*\n\n"),
    ("markdown", r"^\w.*\n(={4,}|-{4,}|~{4,})\n"),
    ("fence", r"^(```|~~~)"),
    ("markdown", r"^\s*[-*+] {1,3}(\[[ x]\] )?\S"),
    ("markdown", r"^\d+\. \S"),
    ("markdown", r"\w\]\((https?://|#\w|\.{0,2}/\w|\w+\.md)"),
    ("markdown", r"(^| )\*\*\w"),
    ("markdown", r"^\|.*\|\n\|[ :|-]+\|$"),
)

CLOCK = (
    rb"[-\[(<]?[ ]?(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T _-]+\d|[ \]])"  # 2024-01-31T12:00
    rb"|(?:[A-Z][a-z]{2},?[ ])?[A-Z][a-z]{2}[ ]+\d{1,2}[ ]\d\d:\d\d"  # Sun Jan 31 12:00
    rb"|\d\d:\d\d:\d\d|\d{10}(?:\.\d+)?[ ]|\d{6}[ ]\d{6}[ ]|\d{8}-\d\d:\d\d"
    rb"|\d\d[-/.]\d\d(?:[-/.]\d\d)?[ ]\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}[: ]|[IWEF]\d{4}[ ]\d\d:)"
)
LEVEL = (
    rb"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)\b[\]:\s|,-]"
    rb"|(?:time|ts|level|timestamp)=|\S++[ ]\S++[ ]\S++[ ]\[\d\d/[A-Z][a-z]{2}/\d{4}"
    rb"|[^\s:]{1,80}+[ ]\d{4}-\d\d-\d\d[ ]\d\d:"
    rb"|(?:\S{1,40}+[ ])?\d{1,2}[ ][A-Z][a-z]{2}[ ]\d{4}[ ]\d\d:\d\d"  # 1:M 31 Jan 2024 12:00
)
LOGGED = re.compile(CLOCK + rb"|" + LEVEL)
"""How a line of a log begins."""

LINE = re.compile(
    rb"(?P<break>--$)|(?P<hunk>@@ -\d+)"
    rb"|(?P<path>(?:[A-Za-z]:)?(?=[^\s:/\\]*+[/\\])[^\s:|,;=(){}<>\"']++:?$)"
    rb"|(?P<word>[\w.@+~#%-]{1,80}+[/*@|=>]?$)"
    rb"|(?P<mode>[-dlbcps][-rwxsStT]{9}[.+@]?[ ]|total[ ]\d+$)"
    rb"|(?P<tree>(?:\xe2\x94\x82|\xc2\xa0|[ |])*+(?:\xe2\x94[\x9c\x94]|[|`+]--))"
    rb"|(?P<stamp>" + CLOCK + rb")|(?P<level>" + LEVEL + rb")"
    rb"|(?P<frame>\s*+(?:at[ ]\S|File[ ]\"|Caused[ ]by:|Traceback[ ]|\.\.\.[ ]\d+[ ]more"
    rb"|from[ ]\S+:\d+:in[ ]|goroutine[ ]\d+|\d+:[ ]+(?:0x|\w+::))|\t/?\S+\.go:\d+)"
    rb"|(?P<commit>[*|/\\ ]*+[0-9a-f]{7,12}+[ ](?:\([^)]*\)[ ])?[^ ])"
    rb"|(?P<hit>(?:[A-Za-z]:)?(?=[^\s:A-Za-z_/.]*+[A-Za-z_/.])[^\s:,]++:\d+:)"
    rb"|(?P<number>\d+(?::|-(?!\d)))"
    rb"|(?P<size>[\d.]++[KMGTB]?\s+(?:\.{0,2}/\S*|\S+/\S*|\.)$)"
    rb"|(?P<status>(?:[ MADRCUT?!]{2}|\?\?)[ ]\S+$|\t(?:modified|new[ ]file|deleted|renamed):[ ])"
    rb"|(?P<named>(?:[A-Za-z]:(?=\\))?(?=[^\s:/.]*+[/.])[^\s:,]++:(?![ ]?$|[ ]\S))"
    rb"|(?P<context>(?:[A-Za-z]:(?=\\))?(?=[^\s:/.]*+[/.])[^\s:]+?-\d+-)"
)
"""The shapes a line can have; the first that fits is its own."""
