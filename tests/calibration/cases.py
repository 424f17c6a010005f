"""Cases of calibration with reference values."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.calibration.risks import Risks


def risks_of(case: Any) -> Risks:
    """Return a case's probabilities and outcomes."""
    given = {name: np.array(case["input"][name], dtype=float) for name in ("p", "y")}
    weight, cluster = (case["input"].get(name) for name in ("weight", "cluster"))
    return Risks(
        **given,
        weight=None if weight is None else np.array(weight, dtype=float),
        cluster=None if cluster is None else np.unique(cluster, return_inverse=True)[1],
    )
