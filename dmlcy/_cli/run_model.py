"""``dmlcy run`` of a model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dmlcy._cli.warnings import warn
from dmlcy._frontends.dxdispatch.json import Document
from dmlcy._frontends.dxdispatch.model import read
from dmlcy._frontends.dxdispatch.problems import printable
from dmlcy._frontends.dxdispatch.run import Options, run
from dmlcy._show.terminal import Progress


def run_model(document: Document, folder: Path, options: argparse.Namespace, expect: Path | None) -> None:
    """Execute a model; write what a device should give for it into the folder ``expect``, None for none."""
    model = read(document, folder)
    warn(model.warnings)
    settings = Options(options.feature_level, options.output_path, options.iterations or 1)
    progress = Progress()
    recorder: Recorder | None = None
    if expect is not None:
        from dmlcy._judge.expected.recorder import Recorder  # here: without --expect, none of it is needed

        recorder = Recorder()
    try:
        run(model, sys.stdout, settings, progress.reached, recorder)
    finally:
        progress.clear()
    if expect is None or recorder is None:
        return
    from dmlcy._judge.expected.save import save

    for path in save(expect, model, settings.level, recorder):
        print(f"Removed '{printable(str(path))}', which the earlier manifest lists")
    print(f"Expected values written to '{printable(str(expect))}'")
