"""results.json is the same bytes on processors with narrow and wide vectors, and whatever kernels BLAS takes there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy._core import _multiarray_umath as compiled
from threadpoolctl import threadpool_info

import evalreport
from evalreport.schema.results import to_json

Source = dict[str, dict[str, Any]]

KERNELS = {"Haswell": "AVX2", "SkylakeX": "AVX512F"}
"""OpenBLAS's kernels, and what a processor must have to run them."""
NARROWEST = "Prescott"
"""The kernel that every processor of this kind runs."""


def sources() -> dict[str, tuple[Source, dict[str, Any]]]:
    """Return small test sets of every task, each with the options that it is run under."""
    random = np.random.default_rng(14)
    n, index = 90, np.arange(90)
    truth, wanted, classes = random.integers(0, 2, n), 3 * random.normal(size=n), random.integers(0, 3, n)
    binary: Source = {}
    regression: Source = {}
    several: Source = {}
    for k, name in enumerate("abc"):
        shares = random.random((n, 3)) + np.eye(3)[classes] * (1 - 0.1 * k)
        shares /= shares.sum(axis=1, keepdims=True)
        p = np.clip(0.5 + 0.15 * (2 * truth - 1) + 0.2 * random.normal(size=n), 0.001, 0.999)
        columns = {"id": index.astype(str), "w": 1 + index % 7 / 3, "c": (index // 5).astype(str)}
        columns["s"] = (index % 2).astype(str)
        binary[name] = {**columns, "y_true": truth.astype(str), "p_1": p}
        regression[name] = {**columns, "y_true": wanted, "y_pred": wanted + random.normal(size=n)}
        several[name] = {**columns, "y_true": np.array(list("xyz"))[classes]}
        several[name] |= {f"p_{label}": shares[:, j] for j, label in enumerate("xyz")}
    two = {m: binary[m] for m in "ab"}
    folds = {m: {**c, "fold": (index % 5).astype(str), "train_size": 0 * index + 72} for m, c in two.items()}
    return {
        "binary": (binary, {"slices": ("s",), "margin": 0.1}),
        "weights": (two, {"weight": "w"}),
        "clusters": (two, {"cluster": "c"}),
        "regression": ({m: regression[m] for m in "ab"}, {}),
        "classes": ({m: several[m] for m in "ab"}, {}),
        "folds": (folds, {}),
    }


def digests() -> dict[str, str]:
    """Return the digest of the results.json of every run."""
    found = {}
    for name, (source, options) in sources().items():
        lists = {m: {c: np.asarray(v).tolist() for c, v in columns.items()} for m, columns in source.items()}
        found[name] = hashlib.sha256(to_json(evalreport.evaluate(lists, resamples=60, **options))).hexdigest()
    return found


@cache
def here() -> dict[str, str]:
    """Return the digests as this processor finds them with all that it has."""
    return digests()


def elsewhere(**environment: str) -> dict[str, str]:
    """Return the digests as a process with other variables of the environment finds them."""
    done = subprocess.run(
        [sys.executable, __file__], env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_kernel_moves_a_digit(kernel: str) -> None:
    """Each kernel of OpenBLAS that this processor can run gives the same results.json, on several threads too."""
    if not compiled.__cpu_features__.get(KERNELS[kernel]):
        pytest.skip(f"this processor has no {KERNELS[kernel]}")
    if {library["architecture"] for library in threadpool_info() if library["user_api"] == "blas"} == {
        kernel
    }:
        pytest.skip("this process has that kernel already")
    threads = "2" if kernel == "Haswell" else "1"
    assert elsewhere(OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS=threads) == here()


def test_no_vector_moves_a_digit() -> None:
    """Numpy and OpenBLAS, restricted to what they take every processor to have, give the same results.json."""
    if not compiled.__cpu_features__.get("SSE3"):
        pytest.skip("this processor is of another kind")
    held = [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(name)]
    assert elsewhere(OPENBLAS_CORETYPE=NARROWEST, NPY_DISABLE_CPU_FEATURES=" ".join(held)) == here()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests()))
