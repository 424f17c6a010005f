"""A run with gates loads no history."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import evalreport as er

labels = {"forest": {"y_pred": [1, 0, 1, 1]}, "logreg": {"y_pred": [0, 0, 1, 0]}}
results = er.evaluate(labels, truth=[1, 0, 1, 0], gates=["forest.accuracy >= 0.1"], resamples=50)
assert len(results.gates) == 1
print(*sorted(name for name in sys.modules if name.startswith(("evalreport", "sqlalchemy"))))
"""


def test_gates_of_a_run_load_no_history() -> None:
    """Neither the store of runs nor the comparison with earlier ones is imported."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    words = ("history", "store", "connection", "run_differences", "past", "sqlalchemy")
    loaded = {name for name in done.stdout.split() if name.rpartition(".")[2] in words}
    assert loaded == set()
