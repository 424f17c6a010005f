"""A folder of another tool's logs says which import reads it; other files that are not read say what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from evalreport.errors import InputError
from evalreport.loading.load import load
from tests.samples.prediction_files import Write

LOGS = Path(__file__).resolve().parents[1] / "data" / "imports"


@pytest.mark.parametrize(
    "content, command",
    [
        ({"2026-01-01_task.eval": b"PK"}, "inspect"),
        ({"log.json": b'{"version": 2, "status": "success", "eval": {}, "samples": []}'}, "inspect"),
        ({"m/samples_gsm8k_2026-01-01T00-00-00.jsonl": b"{}"}, "lm-eval"),
        ({"mlruns/0/meta.yaml": b"", "mlflow.db": b"SQLite"}, "mlflow"),
        ({"artifacts/eval_results_table.json": b"{}"}, "mlflow"),
        ({"large.json": b'{"columns": ["trace_id", "right/value"], "data": [["tr-1", 1]]}'}, "mlflow"),
        ({"results.json": b'{"results": {"results": [{"testCase": {}, "promptIdx": 0}]}}'}, "promptfoo"),
        ({"run.json": b'{"testCases": [{"metricsData": []}]}'}, "deepeval"),
    ],
)
def test_a_folder_of_logs_names_its_import(
    content: dict[str, bytes], command: str, write: Write, tmp_path: Path
) -> None:
    """With the line to type."""
    for name, data in content.items():
        write(f"logs/{name}", data)
    with pytest.raises(InputError, match=f"evalreport import {command} .*logs -o predictions.csv"):
        load(tmp_path / "logs")


def test_a_log_that_is_named_itself_names_its_import(tmp_path: Path) -> None:
    """Also under a name of the user's: by its columns."""
    log = next(LOGS.rglob("samples_*.jsonl"))
    with pytest.raises(InputError, match="evalreport import lm-eval"):
        load(log)
    shutil.copy(log, tmp_path / "mine.jsonl")
    with pytest.raises(InputError, match="evalreport import lm-eval"):
        load(tmp_path / "mine.jsonl")


@pytest.mark.parametrize(
    "name, remedy",
    [("m.rds", r"write\.csv\(readRDS"), ("m.pkl", "read_pickle"), ("m.pt", "np.save"), ("m.bin", "as CSV")],
)
def test_what_can_run_code_says_how_it_is_written_anew(name: str, remedy: str, write: Write) -> None:
    """Each in its own program."""
    with pytest.raises(InputError, match=f"it can run code when it is loaded.*{remedy}"):
        load(write(name, b"x"))


def test_an_archive_of_other_arrays_says_how_to_name_them(tmp_path: Path) -> None:
    """``np.savez(path, a, b)`` calls them arr_0 and arr_1."""
    np.savez(tmp_path / "m.npz", np.arange(3), np.arange(3))
    with pytest.raises(InputError, match="no usable column among 'arr_0', 'arr_1'.*np.savez"):
        load(tmp_path / "m.npz")
