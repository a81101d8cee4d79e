"""`python -m headgate` is `headgate`."""

import sys

from headgate.cli import main

if __name__ == "__main__":
    sys.exit(main())
