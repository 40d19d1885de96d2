"""``python -m dmlcy``: the command line."""

import sys

from dmlcy._cli import program

if __name__ == "__main__":
    sys.exit(program())
