"""Makes codegen importable beside the installed package: the checkout comes last, so that dmlcy is the installed one."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
