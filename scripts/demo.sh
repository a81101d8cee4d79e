#!/bin/sh
# Two real commands through the gate: what they print, what the model sees of it, the way to the rest.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for variable in $(env | sed -n 's/^\(HEADGATE_[A-Z_]*\)=.*/\1/p'); do
	unset "$variable"
done
export HEADGATE_STATE_DIR="$scratch/state"
cd "$scratch"

bold='' plain=''
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

title() {
	printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

show() {
	printf '\n$ %s\n' "$1"
	eval "$1" 2>&1
}

last_ref() {
	headgate store ls --json | tail -n 1 | sed 's/^{"ref": "\([^"]*\)".*/\1/'
}

# What was installed along with the package makes a real source tree to search in.
ln -s "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" library

title 'A search that hits everywhere'
search="grep -rn --include='*.py' 'raise ' library/"
show "$search > hits.txt; wc -l -c hits.txt"
show 'headgate count hits.txt'

title 'The same search through the gate: what the model sees'
show "headgate run --tokens 500 --query 'fixture not found' -- $search"

title 'Why it was shown so'
ref=$(last_ref)
show "headgate explain $ref | head -n 7"

title 'The marker says how to go on; its own words, run as they stand'
next=$(headgate explain "$ref" | sed -n 's/.*`\(headgate read r_[a-z2-7]* --lines [0-9-]*\)`.*/\1/p' | head -n 1)
show "$next --tokens 200"

title 'Every byte is there'
show 'sha256sum < hits.txt'
show 'headgate read --last --raw | sha256sum'
headgate read --last --raw | cmp - hits.txt

title 'A test run that fails somewhere in the middle'
cat > test_shop.py << 'PYTHON'
import pytest


def price(items: int) -> float:
    return items * 0.5 if items != 667 else 0.0


@pytest.mark.parametrize("items", range(1000))
def test_every_item_costs_half(items):
    assert price(items) == items / 2
PYTHON
show 'headgate run --tokens 600 -- python -m pytest -v -p no:cacheprovider test_shop.py' || echo "(exit code $?)"

title 'And a look around the failure'
show "headgate read --last --search ' FAILED ' --tokens 300"
