"""Coverage by level, by tenths of width and time, and the ratio of widths under clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from tests.samples.coverages import series


def test_tenths_hold_as_many_rows_and_add_up() -> None:
    """By the model's own widths and by time: ten parts of 40 rows whose mean coverage is the whole's."""
    results = er.evaluate(series(), resamples=20)
    whole = {r.model: r.coverage for r in results.coverages if r.by == "all"}
    for by in ("width", "time"):
        for model in ("narrow", "right"):
            own = [r for r in results.coverages if (r.by, r.model) == (by, model)]
            assert [r.part for r in own] == list(range(1, 11))
            assert {r.n for r in own} == {40}
            assert np.mean([r.coverage for r in own]) == pytest.approx(whole[model], rel=1e-12)
    ends = [r.ends for r in results.coverages if (r.by, r.model) == ("width", "right")]
    assert ends == sorted(ends)


def test_clusters_widen_the_limits_of_the_ratio() -> None:
    """The derivatives are added up by cluster: four copies of each row are no more evidence."""
    rng = np.random.default_rng(5)
    base = series(100)
    base["y_high@90"] *= rng.uniform(0.8, 1.2, len(base))
    copies = pd.concat([base.assign(id=base["id"] + f"-{k}", group=base["id"]) for k in range(4)])
    one = er.evaluate(base, resamples=20).width_ratios[0]
    many = er.evaluate(copies, cluster="group", resamples=20).width_ratios[0]
    assert many.low == pytest.approx(one.low, rel=1e-9)
    assert many.high == pytest.approx(one.high, rel=1e-9)
