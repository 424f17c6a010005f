"""Other tools' logs -> a prediction file: MLflow, lm-evaluation-harness, Inspect AI, promptfoo, DeepEval.

JSON and SQLite are read, for reading only; nothing is unpickled or run. Models are matched by ids or digests.
"""

from __future__ import annotations

from evalreport.imports.inspect_ai import import_inspect
from evalreport.imports.lm_eval import import_lm_eval
from evalreport.imports.mlflow import import_mlflow
from evalreport.imports.table import Imported, write_table
from evalreport.imports.test_cases import import_deepeval, import_promptfoo

__all__ = [
    "Imported",
    "import_deepeval",
    "import_inspect",
    "import_lm_eval",
    "import_mlflow",
    "import_promptfoo",
    "write_table",
]
