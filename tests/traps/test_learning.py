"""Traps P, Q: decompositions that do not add up, and .632 estimates of something else."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport

pytestmark = pytest.mark.usefixtures("primary_alone")


def table(rows: list[tuple[object, ...]], names: str) -> dict[str, list[object]]:
    """Turn rows into columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


@pytest.mark.parametrize("labels", [("yes", "no", "maybe"), (0, 1, 2), (True, False, True)])
def test_p_zero_one_loss_adds_up_for_any_labels(labels: tuple[object, ...]) -> None:
    """P: bias + unbiased - biased variance is the expected 0-1 loss to 1e-12, whatever type the labels have."""
    generator = np.random.default_rng(0)
    truth = generator.integers(0, len(labels), 30)
    rows = [
        (
            f"{i:02d}",
            "m",
            k,
            labels[t],
            labels[t if generator.random() < 0.6 else generator.integers(len(labels))],
        )
        for k in range(25)
        for i, t in enumerate(truth)
    ]
    source = table(rows, "id model replicate y_true y_pred")
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=10))
    (found,) = results.decomposition
    assert found.variance_unbiased is not None
    assert found.variance_biased is not None
    parts = found.bias + found.variance_unbiased - found.variance_biased
    assert parts == pytest.approx(found.expected_loss, abs=1e-12)
    errors = np.mean([row[3] != row[4] for row in rows])
    assert found.expected_loss == pytest.approx(errors, abs=1e-12)


def test_q_632_takes_the_apparent_error_of_the_fit_to_all_data() -> None:
    """Q: e_R is the full fit's error (0 of 3), not that of each replicate on all rows (1 of 3); R stays in [0, 1].

    Out of the bag: e2 in replicate 1 (wrong), e0 in replicate 2 (wrong), e1 in replicate 2 (right): e_1 = 2/3. The
    no-information rate is 1 - (2/3 2/3 + 1/3 1/3) = 4/9 < e_1, so R = 1 and .632+ is 4/9.
    """
    truth = ["a", "a", "b"]
    fits = [(["a", "a", "a"], [2, 1, 0]), (["b", "a", "b"], [0, 0, 3])]
    rows: list[tuple[object, ...]] = [
        (f"e{i}", "m", str(k), n, "test", truth[i], h)
        for k, (said, inbag) in enumerate(fits)
        for i, (h, n) in enumerate(zip(said, inbag, strict=True))
    ]
    rows += [(f"e{i}", "m", None, None, "train", t, t) for i, t in enumerate(truth)]
    source = table(rows, "id model replicate inbag part y_true y_pred")
    results = evalreport.evaluate(source, options=evalreport.Options(resamples=10))
    found = {e.estimator: e for e in results.error_estimates if e.metric == "error_rate"}
    assert found["resubstitution"].value == 0
    assert found["bootstrap_oob"].value == pytest.approx(2 / 3, abs=1e-12)
    assert found["bootstrap_632"].value == pytest.approx(0.632 * 2 / 3, abs=1e-12)
    assert found["bootstrap_632plus"].details["R"] == 1
    assert found["bootstrap_632plus"].value == pytest.approx(4 / 9, abs=1e-12)
