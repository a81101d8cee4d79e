"""Prepares histories in a process of its own: a request a line in, what is sent a line out."""

import json
import sys

from headgate import Gate, Policy, tokens


def main(state: str) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        policy = Policy(result=tokens(asked["limit"]), batch=tokens(600), classes={})
        gate = Gate(policy, state=state, session=asked["session"])
        outcome = gate.prepare(asked["body"].encode(), dialect=asked["dialect"])
        print(json.dumps(outcome.body.decode()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
