# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Copies the results that README and bench/README.md show into the tree."""

import pathlib
import shutil
import sys

RESULTS = pathlib.Path(__file__).resolve().parents[1] / "results"
# {file of a run: its name in the tree}. series.csv has a line for each query, so it stays with the run.
CHOSEN = {"results.md": "README.md"} | {name: name for name in (
    "results.csv", "facts.json", "cpu.svg", "latency.svg", "latency-0ms.svg", "latency-20ms.svg",
    "latency-loss.svg", "latency-closing.svg", "series-recycle.svg", "series-streams.svg",
    "series-death.svg")}


def publish(out):
    """Removes files that this run did not make, so that all files of the folder are from one run."""
    RESULTS.mkdir(exist_ok=True)
    for name, published in CHOSEN.items():
        source, target = out / name, RESULTS / published
        if source.exists():
            shutil.copyfile(source, target)
        else:
            target.unlink(missing_ok=True)
    print(f"published in {RESULTS}", file=sys.stderr)


def publish_files(out, name):
    """Copies a table, its figures and its chart. The raw data stays with the run."""
    RESULTS.mkdir(exist_ok=True)
    for kind in ("md", "csv", "svg"):
        shutil.copyfile(out / f"{name}.{kind}", RESULTS / f"{name}.{kind}")
    print(f"published in {RESULTS}", file=sys.stderr)
