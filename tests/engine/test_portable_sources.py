"""Nothing that enters results.json is computed by an operation whose rounding depends on the processor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.samples.syntax import tree_of

ROOT = Path(__file__).resolve().parents[2]
RESULTS_ONLY = {"plots", "report", "cli"}

BY_PROCESSOR = {
    *("dot", "inner", "vdot", "tensordot", "convolve", "correlate", "cov", "corrcoef", "polyfit"),
    *("linalg", "log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "power", "float_power", "cbrt"),
    *(
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "arctan2",
        "sinh",
        "cosh",
        "tanh",
        "geomspace",
        "logspace",
    ),
}
"""What numpy leaves to BLAS or LAPACK, or has versions of for wide vectors."""

PRODUCTS = {
    "engine/distributions.py",  # where they are made safe
    *("engine/ranks.py", "engine/histograms.py"),  # sparse
    *("metrics/label_estimates.py", "metrics/replicates.py", "samplings/sampling.py"),  # sparse
    *("metrics/threshold_counts.py", "metrics/clustering.py", "metrics/ranking.py"),  # sparse
    *("comparisons/permutation.py", "comparisons/unit_swaps.py"),  # sparse
    "questions/algorithms/decomposition.py",  # multiplicities by zeros and ones: whole numbers
}
"""Files whose products ``@`` are of sparse matrices, which add in order, or of whole numbers."""

OF_THE_FITS = {"refit/fitting.py", "refit/model_sizes.py"}
"""What is computed beside the users' own models, which fit as their libraries do."""


def operations() -> Iterator[tuple[str, str]]:
    """Yield (file, operation) of every product of matrices and every function of numpy in the analysis."""
    for path in sorted((ROOT / "evalreport").rglob("*.py")):
        name = path.relative_to(ROOT / "evalreport").as_posix()
        if name.split("/")[0] in RESULTS_ONLY:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                yield name, "@"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                yield name, "@" if node.attr == "matmul" else node.attr


def test_dense_products_and_wide_functions_are_in_one_module() -> None:
    """Products of dense matrices, and functions with versions for wide vectors, are used in one module alone."""
    found = set(operations())
    assert ("engine/distributions.py", "@") in found
    assert {name for name, operation in found if operation == "@"} == PRODUCTS
    wide = {(name, operation) for name, operation in found if operation in BY_PROCESSOR}
    assert {name for name, _ in wide} <= OF_THE_FITS, sorted(wide)
