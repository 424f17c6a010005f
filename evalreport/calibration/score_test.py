"""The test of calibration by scores: are level, spread and curvature of the outcomes those that are announced?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evalreport.calibration.risks import Risks
from evalreport.engine.distributions import chi2_tail, f_tail, log1p
from evalreport.engine.draws import stream
from evalreport.predictions.arrays import Floats

Method = Literal["score", "monte_carlo", "clusters"]

OF_LINE, OF_SHAPE = 0.8, 0.2
"""How the level is shared between level and spread together, and curvature."""

FEW, DRAWS = 100.0, 1999
"""Below so many expected events (or non-events) the p-value is drawn, so often."""

MOST_CELLS = 4_000_000
"""Up to this number of draws times examples the outcomes are drawn one by one; beyond, their events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTest:
    """The outcome of the test.

    Attributes
    ----------
    score, curvature
        S2 of level and spread, and S1 of curvature; of clusters after the division.
    p_line, p_curvature
        Their p-values by chi-square, of clusters by F.
    p_value
        Of both together, drawn where few events are expected.
    """

    score: float
    curvature: float
    p_line: float
    p_curvature: float
    p_value: float
    method: Method


def score_test(risks: Risks, *, seed: int) -> ScoreTest | None:
    """Test whether y_i ~ Bernoulli(p_i), by scores; None where no probability lies between 0 and 1.

    With x = logit p, v = p (1 - p), xc = x less its mean weighted by w v, q = xc^2 less its regression on (1, xc), and
    r = w (y - p):

        S2 = U' I^-1 U,  U = (sum r, sum xc r),  I = sum w^2 v (1, xc)(1, xc)'      (2 degrees of freedom)
        S1 = (sum q r)^2 / sum w^2 v q^2                                            (1 degree of freedom)
        p = min(1, p(S2) / 0.8, p(S1) / 0.2)

    S2 is Cox's joint test of intercept 0 and slope 1 as a score test: no fit is needed, so that separated classes and
    few events do not matter. Of independent examples that weigh the same, where fewer than 100 events or non-events
    are expected, the p-value is drawn from outcomes with these probabilities. Of clusters both statistics are divided
    by how much more the scores vary between clusters than the probabilities let them, at least 1, and p is by F.

    Parameters
    ----------
    risks
        Examples with a probability of 0 or 1 are left out.
    seed
        Of the drawn outcomes.

    References
    ----------
    Cox (1958), Biometrika 45:562. The test of curvature beside it and the shares 0.8 and 0.2 were chosen by simulation.
    """
    used = risks.open
    if not used.n or not float(used.w.sum()) > 0:
        return None
    scores = _Scores.of(used)
    r = used.w * (used.y - used.p)
    if used.cluster is not None:
        return _of_clusters(scores, used.by_cluster(scores.columns * r[:, None]))
    line, shape = (float(s) for s in scores.statistics((scores.columns * r[:, None]).sum(axis=0)))
    p_shape = chi2_tail(shape, 1) if scores.shape else 1.0
    test = _joined(line, shape, chi2_tail(line, scores.df), p_shape, "score")
    expected = min(float(used.p.sum()), float((1 - used.p).sum()))
    if not used.plain or expected >= FEW:
        return test
    return _drawn(test, scores, used, seed)


@dataclass(frozen=True, slots=True)
class _Scores:
    """The columns (n, df + 1) whose weighted sums of y - p are the scores: of level and spread, the last of curvature.

    ``inverse`` (df, df) is that of the information of level and spread, ``shape`` the information of curvature.
    """

    columns: Floats
    inverse: Floats
    shape: float

    @classmethod
    def of(cls, risks: Risks) -> _Scores:
        """Return the columns of n probabilities, and the information of level, spread and shape."""
        x, v = risks.logit, risks.p * (1 - risks.p)
        wv, wwv = risks.w * v, risks.w**2 * v
        total = float(wv.sum())
        xc = x - float((wv * x).sum()) / total
        squares = float((wv * xc**2).sum())
        # Probabilities that are all the same, up to rounding, have no spread; two values have no curvature.
        if squares <= 1e-24 * total * max(1.0, float((x**2).max())):
            xc, squares = np.zeros(len(x)), 0.0
        # Products, not powers: those move by the processor.
        slope = float((wv * xc * xc * xc).sum()) / squares if squares else 0.0
        q = xc**2 - squares / total - slope * xc
        shape = float((wwv * q**2).sum())
        if shape <= 1e-20 * float((wwv * xc**2 * xc**2).sum()):
            q, shape = np.zeros(len(x)), 0.0
        line = np.stack([np.ones(len(x)), xc], axis=1)[:, : 2 if squares else 1]
        inverse = np.asarray(np.linalg.inv((wwv[:, None] * line).T @ line), dtype=np.float64)
        return cls(np.column_stack([line, q]), inverse, shape)

    @property
    def df(self) -> int:
        """Degrees of freedom of S2: 1 where all probabilities are the same."""
        return len(self.inverse)

    def statistics(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return S2 and S1 of scores (..., df + 1)."""
        of_line, of_shape = sums[..., :-1], sums[..., -1]
        line = ((of_line @ self.inverse) * of_line).sum(axis=-1)
        return line, of_shape**2 / self.shape if self.shape else 0 * of_shape


def _joined(line: float, shape: float, p_line: float, p_shape: float, method: Method) -> ScoreTest:
    return ScoreTest(
        score=line, curvature=shape, p_line=p_line, p_curvature=p_shape, method=method,
        p_value=min(1.0, p_line / OF_LINE, p_shape / OF_SHAPE),
    )  # fmt: skip


def _of_clusters(scores: _Scores, by_cluster: Floats) -> ScoreTest | None:
    """Divide the statistics of scores (G, df + 1) by how much more they vary than the probabilities let them."""
    g, df = len(by_cluster), scores.df
    if g < 2:
        return None
    total = by_cluster.sum(axis=0)
    between = (by_cluster - total / g) * np.sqrt(g / (g - 1))
    spread = between.T @ between
    line, shape = (float(s) for s in scores.statistics(total))
    line /= max(1.0, float(np.trace(scores.inverse @ spread[:df, :df])) / df)
    if not scores.shape:
        return _joined(line, 0.0, f_tail(line / df, df, g - 1), 1.0, "clusters")
    shape /= max(1.0, float(spread[-1, -1]) / scores.shape)
    return _joined(line, shape, f_tail(line / df, df, g - 1), f_tail(shape, 1, g - 1), "clusters")


def _drawn(found: ScoreTest, scores: _Scores, risks: Risks, seed: int) -> ScoreTest:
    """Draw outcomes of the rarer kind many at a time, and count those whose scores are as far out."""
    rare = 1 - risks.p if float(risks.p.sum()) > risks.n / 2 else risks.p
    sums = _sums_of_draws(rare, scores.columns, stream(seed, "calibration outcomes", 0))
    line, shape = scores.statistics(sums - (scores.columns * rare[:, None]).sum(axis=0))
    drawn = np.minimum(_tails(line, scores.df) / OF_LINE, _tails(shape, 1) / OF_SHAPE)
    bar = min(found.p_line / OF_LINE, found.p_curvature / OF_SHAPE) * (1 + 1e-12)
    return replace(found, p_value=(1 + int((drawn <= bar).sum())) / (DRAWS + 1), method="monte_carlo")


def _sums_of_draws(p: Floats, columns: Floats, generator: np.random.Generator) -> Floats:
    """Return the sums of the columns (n, k) over the events of each draw, (DRAWS, k).

    Beyond ``MOST_CELLS`` events are points of a Poisson process whose rate in each example is -log(1 - p). An example
    has an event where it has at least one point: exactly Bernoulli(p), in the time of the events alone.
    """
    n = len(p)
    if DRAWS * n <= MOST_CELLS:
        events = (generator.random((DRAWS, n)) < p).astype(np.float64)
        return events @ columns
    rate = np.cumsum(-log1p(-p))
    counts = generator.poisson(float(rate[-1]), size=DRAWS)
    points = generator.random(int(counts.sum())) * rate[-1]
    placed = np.repeat(np.arange(DRAWS), counts) * n
    placed += np.minimum(np.searchsorted(rate, points, side="right"), n - 1)
    placed.sort()
    draw, row = np.divmod(placed[np.diff(placed, prepend=-1) > 0], n)
    return np.stack([np.bincount(draw, column[row], minlength=DRAWS) for column in columns.T], axis=1)


def _tails(statistics: Floats, df: int) -> Floats:
    from scipy import special

    return np.asarray(special.gammaincc(df / 2, statistics / 2))
