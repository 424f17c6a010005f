"""Other tools' logs -> a prediction file: MLflow's evaluation tables, lm-evaluation-harness's sample logs.

Only JSON is read, nothing is unpickled, fetched or run. What a file says is matched between models by ids or digests.
"""

from __future__ import annotations

from evalreport.imports.lm_eval import import_lm_eval
from evalreport.imports.mlflow import import_mlflow
from evalreport.imports.table import Imported, write_table

__all__ = ["Imported", "import_lm_eval", "import_mlflow", "write_table"]
