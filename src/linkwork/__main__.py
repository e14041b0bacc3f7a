"""The command line, as `python -m linkwork`."""

import sys

from linkwork.cli import main

if __name__ == "__main__":
    sys.exit(main())
