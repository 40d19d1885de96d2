"""``python -m dmlcy``: the command line."""

import sys

from dmlcy._cli import main

if __name__ == "__main__":
    sys.exit(main())
