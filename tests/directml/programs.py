"""Programs that say ``import directml``, run with a module of that name; what their devices computed."""

from __future__ import annotations

import gc
import runpy
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

Array = np.ndarray[Any, Any]


def run(monkeypatch: pytest.MonkeyPatch, script: Path, module: ModuleType, *arguments: str) -> list[Array]:
    """All results of ``Device.compute`` in a program, in order."""
    found: list[Array] = []
    device = module.Device

    class Recording(device):  # type: ignore[misc, valid-type]
        def compute(self, model: Any, inputs: Any, outputs: Any) -> Any:
            results = super().compute(model, inputs, outputs)
            found.extend(np.asarray(one).astype(np.float64) for one in results)
            return results

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(module, "Device", Recording)
        patch.setattr("PIL.Image.Image.show", lambda *_, **__: None)
        patch.setitem(sys.modules, "directml", module)
        patch.setitem(sys.modules, "pydirectml", module)
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.chdir(script.parent)
        runpy.run_path(str(script), run_name="__main__")
        gc.collect()  # the programs leave files open, of which Python warns
    return found
