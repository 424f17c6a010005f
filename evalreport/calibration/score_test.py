"""The test of calibration by scores: are level, spread and curvature of the outcomes those that are announced?"""

from __future__ import annotations

from dataclasses import dataclass
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
    if used.cluster is not None:
        return _of_clusters(scores, used)
    test = scores.tested(*scores.sums(used.y - used.p))
    expected = min(float(used.p.sum()), float((1 - used.p).sum()))
    if not used.plain or expected >= FEW:
        return test
    return _drawn(test, scores, used, seed)


@dataclass(frozen=True, slots=True)
class _Scores:
    """The columns (n,) whose weighted sums of y - p are the scores, and the information of each."""

    w: Floats
    xc: Floats
    q: Floats
    level: float
    cross: float
    spread: float
    shape: float

    @classmethod
    def of(cls, risks: Risks) -> _Scores:
        """Return the columns of n probabilities, and the information of level, spread and shape."""
        w, x, v = risks.w, risks.logit, risks.p * (1 - risks.p)
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
        return cls(
            w, xc, q, float(wwv.sum()), float((wwv * xc).sum()), float((wwv * xc**2).sum()), shape
        )  # fmt: skip

    def sums(self, left: Floats) -> tuple[float, float, float]:
        """Return the three scores of y - p (n,)."""
        r = self.w * left
        return float(r.sum()), float((self.xc * r).sum()), float((self.q * r).sum())

    def statistics(self, u0: Floats, u1: Floats, u2: Floats) -> tuple[Floats, Floats]:
        """Return S2 and S1 of scores, element by element."""
        if not self.spread:
            line = u0**2 / self.level
        else:
            determinant = self.level * self.spread - self.cross**2
            line = (self.spread * u0**2 - 2 * self.cross * u0 * u1 + self.level * u1**2) / determinant
        return line, u2**2 / self.shape if self.shape else np.zeros_like(u2)

    @property
    def df(self) -> int:
        """Degrees of freedom of S2: 1 where all probabilities are the same."""
        return 2 if self.spread else 1

    def tested(self, u0: float, u1: float, u2: float) -> ScoreTest:
        """Return the test by chi-squares, from the sums of y - p times each column."""
        line, shape = (float(s[0]) for s in self.statistics(*(np.array([u]) for u in (u0, u1, u2))))
        p_line, p_shape = chi2_tail(line, self.df), chi2_tail(shape, 1) if self.shape else 1.0
        return ScoreTest(
            score=line, curvature=shape, p_line=p_line, p_curvature=p_shape, p_value=_joined(p_line, p_shape),
            method="score",
        )  # fmt: skip


def _joined(p_line: float, p_shape: float) -> float:
    return min(1.0, p_line / OF_LINE, p_shape / OF_SHAPE)


def _of_clusters(scores: _Scores, risks: Risks) -> ScoreTest | None:
    r = scores.w * (risks.y - risks.p)
    by_cluster = risks.by_cluster(np.stack([r, scores.xc * r, scores.q * r], axis=1))
    g = len(by_cluster)
    if g < 2:
        return None
    between = (by_cluster - by_cluster.sum(axis=0) / g) * np.sqrt(g / (g - 1))
    test = scores.tested(*(float(u) for u in by_cluster.sum(axis=0)))
    b00, b11 = float((between[:, 0] ** 2).sum()), float((between[:, 1] ** 2).sum())
    b01, b22 = float((between[:, 0] * between[:, 1]).sum()), float((between[:, 2] ** 2).sum())
    if scores.spread:
        determinant = scores.level * scores.spread - scores.cross**2
        trace = (scores.spread * b00 - 2 * scores.cross * b01 + scores.level * b11) / determinant
    else:
        trace = b00 / scores.level
    line = test.score / max(1.0, trace / scores.df)
    shape = test.curvature / max(1.0, b22 / scores.shape) if scores.shape else 0.0
    p_line = f_tail(line / scores.df, scores.df, g - 1)
    p_shape = f_tail(shape, 1, g - 1) if scores.shape else 1.0
    return ScoreTest(
        score=line, curvature=shape, p_line=p_line, p_curvature=p_shape, p_value=_joined(p_line, p_shape),
        method="clusters",
    )  # fmt: skip


def _drawn(found: ScoreTest, scores: _Scores, risks: Risks, seed: int) -> ScoreTest:
    """Draw outcomes of the rarer kind many at a time, and count those whose scores are as far out."""
    flipped = float(risks.p.sum()) > risks.n / 2
    rare, sign = (1 - risks.p, -1.0) if flipped else (risks.p, 1.0)
    columns = np.stack([np.ones(risks.n), scores.xc, scores.q], axis=1)
    expected = (columns * rare[:, None]).sum(axis=0)
    sums = _sums_of_draws(rare, columns, stream(seed, "calibration outcomes", 0))
    line, shape = scores.statistics(
        *(sign * (total - mean) for total, mean in zip(sums, expected, strict=True))
    )
    drawn = np.minimum(_tails(line, scores.df) / OF_LINE, _tails(shape, 1) / OF_SHAPE)
    bar = min(found.p_line / OF_LINE, found.p_curvature / OF_SHAPE) * (1 + 1e-12)
    p_value = (1 + int((drawn <= bar).sum())) / (DRAWS + 1)
    return ScoreTest(
        score=found.score, curvature=found.curvature, p_line=found.p_line, p_curvature=found.p_curvature,
        p_value=p_value, method="monte_carlo",
    )  # fmt: skip


def _sums_of_draws(p: Floats, columns: Floats, generator: np.random.Generator) -> list[Floats]:
    """Return the sums of each column (n,) over the events of each draw, (DRAWS,) each.

    Beyond ``MOST_CELLS`` events are points of a Poisson process whose rate in each example is -log(1 - p). An example
    has an event where it has at least one point: exactly Bernoulli(p), in the time of the events alone.
    """
    n = len(p)
    if DRAWS * n <= MOST_CELLS:
        events = (generator.random((DRAWS, n)) < p).astype(np.float64)
        return [events @ column for column in columns.T]
    rate = np.cumsum(-log1p(-p))
    counts = generator.poisson(float(rate[-1]), size=DRAWS)
    points = generator.random(int(counts.sum())) * rate[-1]
    placed = np.repeat(np.arange(DRAWS), counts) * n
    placed += np.minimum(np.searchsorted(rate, points, side="right"), n - 1)
    placed.sort()
    draw, row = np.divmod(placed[np.diff(placed, prepend=-1) > 0], n)
    of_draws = (np.bincount(draw, weights=column[row], minlength=DRAWS) for column in columns.T)
    return [of_column.astype(np.float64) for of_column in of_draws]


def _tails(statistics: Floats, df: int) -> Floats:
    from scipy import special

    return np.asarray(special.gammaincc(df / 2, statistics / 2))
