"""Makes codegen importable beside the package. The checkout comes last: an installed dmlcy is the one tested."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

os.environ.pop("FORCE_COLOR", None)  # reports are compared as they are without colours
