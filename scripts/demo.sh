#!/bin/sh
# A long test log with one failure in its middle: through the gate, and back.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HEADGATE_STATE_DIR="$scratch/state" XDG_STATE_HOME="$scratch"
cd "$scratch"

awk 'BEGIN {
	for (n = 1; n <= 3000; n++) {
		if (n == 1734) print "FAILED tests/test_refund.py::test_half_a_cent - assert 12.50 == 12.05"
		else printf "tests/test_%03d.py::test_case_%d PASSED [%3d%%]\n", n / 20, n, n / 30
	}
}' > test.log

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show wc -l -c test.log
show headgate run --tokens 400 -- cat test.log
show headgate read --last --lines 1732-1736
printf '\n$ headgate read --last --raw | cmp - test.log && echo every byte is there\n'
headgate read --last --raw | cmp - test.log && echo every byte is there
