"""Makes codegen importable beside the package: the checkout comes last, so that an installed dmlcy is the one tested."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
