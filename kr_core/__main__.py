"""`python -m kr_core`."""

import sys

from kr_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
