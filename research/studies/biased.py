"""The unbiased squared bias of replicates and its interval, measured through the public API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import evalreport as er
from research.studies.harness import Cell, Result, Study
from research.studies.judgement import LEAST, Fact, Line, at_least, never

K, SPREAD = 30, 1.775
"""Replicates, and the standard deviation of their predictions: variance / K = 0.105 is added to the bias of 0.09."""
BIAS = 0.3


@dataclass(frozen=True)
class Biased(Cell):
    """A model that misses every true value by 0.3, a squared bias of 0.09, trained on data of their own K times."""

    n: int = 100


CELLS = (Biased("squared bias 0.09, 30 replicates"),)


def counted(cell: Biased, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the interval of the unbiased squared bias holds it, and return both estimates."""
    true = np.sin(6 * generator.random(cell.n))
    centre = true + BIAS * generator.choice([-1.0, 1.0], cell.n)
    predicted = centre + SPREAD * generator.normal(size=(K, cell.n))
    place, replicate = np.tile(np.arange(cell.n), K), np.repeat(np.arange(K), cell.n)
    results = er.evaluate(
        {
            "a": {
                "id": [f"{i:03d}" for i in place],
                "replicate": replicate.tolist(),
                "inbag": [0] * len(place),
                "y_true": true[place].tolist(),
                "y_pred": predicted.ravel().tolist(),
            }
        },
        metrics=["mse"], intervals=["normal"], resamples=2, seed=number,
    )  # fmt: skip
    (found,) = (row for row in results.decomposition if row.loss == "squared")
    assert found.bias_unbiased is not None
    assert found.bias_unbiased_low is not None
    assert found.bias_unbiased_high is not None
    return {
        "held": found.bias_unbiased_low <= BIAS**2 <= found.bias_unbiased_high,
        "plain": found.bias,
        "unbiased": found.bias_unbiased,
        "unbiased squared": found.bias_unbiased**2,
        "identity": abs(found.expected_loss - found.bias - found.variance) < 1e-9 * found.expected_loss,
    }


def promised(result: Result) -> Iterator[Line]:
    """Promise that the unbiased squared bias is near the true one, and that its interval holds it."""
    n, mean = result.data_sets, result["unbiased"]
    yield at_least("squared bias 0.09 of 30 replicates: its interval", result["held"], LEAST, n)
    error = float(np.sqrt((result["unbiased squared"] - mean**2) / n))
    yield Fact(
        promise="squared bias 0.09 of 30 replicates: its mean",
        asked="0.09, within three errors",
        found=f"{mean:.4f} ± {error:.4f} (with variance / K {result['plain']:.3f})",
        holds=abs(mean - BIAS**2) < 3 * error,
    )
    yield never("loss = bias + variance: missed", 1 - result["identity"], n)


STUDY = Study("Bias", CELLS, counted, promised)
