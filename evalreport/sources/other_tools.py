"""Logs of other tools, which are no predictions: known by names and first bytes, to name the import that reads them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

from evalreport.errors import InputError

_SAMPLES = re.compile(r"samples_.+\.jsonl")
"""A log of lm-evaluation-harness (``--log_samples``)."""


_OF_SAMPLES = frozenset(("doc", "target", "arguments", "resps"))
"""Keys of each line of such a log."""


_OF_INSTANCES = frozenset(("model_id", "evaluation_name", "sample_id", "evaluation"))
"""Keys of each line of an instance file of Every Eval Ever."""


_BY_NAME = {"mlflow.db": "mlflow", "mlruns": "mlflow", "eval_results_table.json": "mlflow"}


_TOOLS = {
    "inspect": "Inspect AI",
    "lm-eval": "lm-evaluation-harness",
    "mlflow": "MLflow",
    "promptfoo": "promptfoo",
    "deepeval": "DeepEval",
    "every-eval-ever": "Every Eval Ever",
}
"""The tool that each import reads."""


_IN_JSON = {
    "promptfoo": (b'"promptIdx"', b'"testCase"'),
    "deepeval": (b'"testCases"', b'"metricsData"'),
    "mlflow": (b'"columns"', b'"trace_id"', b'"data"'),
    "inspect": (b'"eval"', b'"samples"', b'"status"'),
}
"""What stands in a JSON file of each tool."""


_LOOKED_AT = 1 << 20


def import_of(path: Path) -> str | None:
    """Return the import that reads a file, None where it is no known log."""
    if path.suffix == ".eval":
        return "inspect"
    if _SAMPLES.fullmatch(path.name):
        return "lm-eval"
    tool = next((_BY_NAME[part] for part in (path.name, path.parent.name) if part in _BY_NAME), None)
    if tool is not None or path.suffix != ".json":
        return tool
    try:
        with path.open("rb") as stream:
            start = stream.read(_LOOKED_AT)
    except OSError:
        return None
    return next((name for name, marks in _IN_JSON.items() if all(mark in start for mark in marks)), None)


def import_of_columns(names: Collection[str]) -> str | None:
    """Return the import that reads a table with these headers; None where it is no known log."""
    if set(names) >= _OF_INSTANCES:
        return "every-eval-ever"
    return "lm-eval" if set(names) >= _OF_SAMPLES else None


def refuse_logs(files: Iterable[Path], shown: str) -> None:
    """Refuse files that are a log of another tool: the first that is one says so.

    Raises
    ------
    InputError
        With the line that imports it.
    """
    for file in files:
        command = import_of(file)
        if command is not None:
            raise log_of(command, shown)


def log_of(command: str, shown: str) -> InputError:
    """Return the error of a log, with the line that imports it."""
    line = f"evalreport import {command} {shlex.quote(shown)} -o predictions.csv"
    return InputError.of("log_of_other_tool", file=shown, tool=_TOOLS[command], command=line)
