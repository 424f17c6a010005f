"""Headings and first-screen sentences that speak of a difference: how often they do where there is none.

Each cell is a population without a difference; ``counted`` says whether the sentence would be printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import evalreport as er
from evalreport.calibration.deciles import decile_test
from evalreport.calibration.risks import Risks
from evalreport.calibration.score_test import score_test
from evalreport.intervals.at_rates import benefit_difference_limits, called_apart
from evalreport.loading.load import load
from evalreport.metrics.estimation import estimate_models
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.metrics.views import Scored
from evalreport.options import Options
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.questions.baselines.compute import baseline_records
from evalreport.questions.baselines.rule_pairs import rule_pairs
from evalreport.questions.calibration.compute import joined
from evalreport.questions.slices.group_ratios import ratio_records
from evalreport.questions.slices.group_spread import Shares, spread_records
from evalreport.questions.slices.records import IN_HEADINGS
from evalreport.questions.thresholds.compute import murphy_differences
from evalreport.questions.thresholds.decision_curves import level_of_highest, side_of
from evalreport.questions.thresholds.dominance import decided_both_ways
from evalreport.questions.thresholds.options import threshold_range
from evalreport.samplings import sampling_by
from research.studies.designs import predictions_on
from research.studies.harness import Cell, Study, limits
from research.studies.pair_decision import LEADING, decide_pair

LIMIT = 0.06
"""Most of the data sets without a difference in which a sentence speaks of one."""

LEVEL = 0.05
Draw = Callable[[np.random.Generator], bool]


@dataclass(frozen=True)
class Heading(Cell):
    """A sentence, and a draw of one data set without a difference that says whether it is printed."""

    printed: Draw


def beats_the_rule(metric: str, n: int, models: int) -> Draw:
    """Say whether any of some models, all as good as the rule that needs none, is said to beat it."""
    options = Options(task="regression" if metric == "rmse" else "binary", metrics=(metric,), resamples=2)
    quantities, ids = (Quantity(metric),), [f"{i:06d}" for i in range(n)]

    def printed(generator: np.random.Generator) -> bool:
        source = {
            f"m{j}": {"id": ids, **columns}
            for j, columns in enumerate(as_good_as_the_rule(metric, n, models, generator))
        }
        samples = estimate_models(load(source, options=options), quantities, options)
        constant = [baseline_records(sample) for sample in samples]
        return any(r.verdict == "better" for r in rule_pairs(samples, constant, quantities, options))

    return printed


def as_good_as_the_rule(
    metric: str, n: int, models: int, generator: np.random.Generator
) -> list[dict[str, np.ndarray]]:
    """Draw models whose true value is the rule's: 20 % of class 1 and of errors; R2 = 0; scores that know nothing."""
    if metric == "rmse":
        # y = 0.3 x + e, predicted by 0.6 x: the error 0.3 x - 0.6 x + e varies as y does.
        x = generator.normal(size=n)
        truth = 0.3 * x + generator.normal(size=n)
        return [{"y_true": truth, "y_pred": 0.6 * x + 1e-6 * generator.normal(size=n)} for _ in range(models)]
    positive = generator.random(n) < 0.2
    truth = positive.astype(int)
    if metric == "roc_auc":
        return [{"y_true": truth, "score": generator.normal(size=n)} for _ in range(models)]
    return [
        {"y_true": truth, "y_pred": (positive ^ (generator.random(n) < 0.2)).astype(int)}
        for _ in range(models)
    ]


def names_a_group(sizes: Sequence[int], share: float) -> Draw:
    """Say whether any of some groups that are all selected equally often is named in the heading of the segments."""

    def printed(generator: np.random.Generator) -> bool:
        found = [of_groups(metric, sizes, share, generator) for metric in IN_HEADINGS]
        return any(r.differs for r in ratio_records(found, 0.95) if r.metric == IN_HEADINGS[0])

    return printed


def gaps_beyond_noise(sizes: Sequence[int]) -> Draw:
    """Say whether any of three metrics is said to differ more between groups than noise gives."""

    def printed(generator: np.random.Generator) -> bool:
        shares = {"selection_rate": 0.3, "recall": 0.6, "accuracy": 0.85}
        found = [of_groups(metric, sizes, share, generator) for metric, share in shares.items()]
        return any(r.beyond for r in spread_records(found, 0.95, 0))

    return printed


def of_groups(metric: str, sizes: Sequence[int], share: float, generator: np.random.Generator) -> Shares:
    """Draw groups of one column that all have the same share."""
    names = tuple(f"g{k:02d}" for k in range(len(sizes)))
    successes = generator.binomial(sizes, share).astype(np.float64)
    return Shares("m", metric, "group", names, successes, np.array(sizes, dtype=np.float64))


def curves_cross(n: int, correlation: float) -> Draw:
    """Say whether each of two models with the same true ROC curve is shown to be ahead somewhere."""

    def printed(generator: np.random.Generator) -> bool:
        positive = np.repeat([1.0, 0.0], n // 2)
        shared, *own = (generator.normal(size=n) for _ in range(3))
        scores = (correlation**0.5 * shared + (1 - correlation) ** 0.5 * each + positive for each in own)
        return decided_both_ways(*(Scored(score, positive) for score in scores))

    return printed


def highest_benefit(n: int, declared: str) -> Draw:
    """Say whether one of two models with equal net benefits is shown to have more at some declared threshold."""
    thresholds = threshold_range(declared)

    def printed(generator: np.random.Generator) -> bool:
        x, noise = generator.normal(size=n), generator.normal(size=(2, n))
        positive = generator.random(n) < 1 / (1 + np.exp(1 - x))
        p, q = (1 / (1 + np.exp(1 - x - 0.5 * each)) for each in noise)
        each = level_of_highest(0.95, len(thresholds))
        counts = ((t, called_apart(p >= t, q >= t, positive)) for t in thresholds)
        return any(side_of(benefit_difference_limits(*kinds, len(p), t, each)) for t, kinds in counts)

    return printed


def noisy_models(
    n: int, noises: Sequence[float], middle: float, spread: float, generator: np.random.Generator
) -> Predictions:
    """Draw outcomes, and models whose logits are the true ones with noise."""
    z = middle + spread * generator.normal(size=n)
    truth = (generator.random(n) < 1 / (1 + np.exp(-z))).astype(np.int32)
    models = []
    for name, noise in zip("abcde", noises, strict=False):
        p = 1 / (1 + np.exp(-z - noise * generator.normal(size=n)))
        labels = (p > 0.5).astype(np.int32)
        models.append(ModelOutputs(name, y_pred=labels, score=p, proba=np.stack([1 - p, p], 1)))
    return predictions_on("binary", truth, tuple(models), 2)


def ahead_somewhere(n: int, noises: Sequence[float], middle: float, spread: float) -> Draw:
    """Say whether one of equal models is called ahead at some threshold of the Murphy curves."""

    def printed(generator: np.random.Generator) -> bool:
        predictions = noisy_models(n, noises, middle, spread, generator)
        sample = estimate_all(predictions, [], units=sampling_by(n), n_resamples=2, seed=1)
        records = murphy_differences(sample, Options(resamples=2))
        return any(side_of(limits) for r in records for limits in zip(r.low, r.high, strict=True))

    return printed


def off_though_calibrated(n: int, middle: float, spread: float) -> Draw:
    """Say whether probabilities that are right are said to be off."""

    def printed(generator: np.random.Generator) -> bool:
        p = 1 / (1 + np.exp(-middle - spread * generator.normal(size=n)))
        risks = Risks(p, (generator.random(n) < p).astype(np.float64))
        seed = int(generator.integers(1 << 30))
        scores = score_test(risks, seed=seed)
        return scores is not None and joined(scores, decile_test(risks, seed=seed))[0] <= 0.05

    return printed


def metrics_disagree(n: int, specificities: tuple[float, float]) -> Draw:
    """Say whether each of two models of equal recall is said to lead on some metric."""
    ids, truth = [f"{i:04d}" for i in range(n)], np.arange(n) % 2

    def printed(generator: np.random.Generator) -> bool:
        source = {
            name: {"id": ids, "y_true": truth, "y_pred": truth ^ (generator.random(n) > right[truth])}
            for name, right in zip("ab", ((np.array([s, 0.8])) for s in specificities), strict=True)
        }
        results = er.evaluate(source, task="binary", positive="1", resamples=2)
        return any(warning.code == "metrics_disagree" for warning in results.warnings)

    return printed


BESIDE = ("accuracy", "roc_auc", "balanced_accuracy", "log_loss")
"""The metrics of which the headline may name a second one, the primary one first."""


def second_metric(n: int) -> Draw:
    """Say whether a second metric tells two equal models apart, where the first does not."""

    def printed(generator: np.random.Generator) -> bool:
        predictions, quantities = (
            noisy_models(n, (0.6, 0.6), 0.0, 1.5, generator),
            [Quantity(m) for m in BESIDE],
        )
        sample = estimate_all(predictions, quantities, units=sampling_by(n), n_resamples=2, seed=1)
        decided = (decide_pair(sample, q, Options(resamples=2))[1][LEADING] for q in quantities)
        first, *others = (1.0 if p is None else p for p in decided)
        return first > LEVEL and min(others) * len(BESIDE) <= LEVEL

    return printed


def order_turns(n: int, slices: int) -> Draw:
    """Say whether the order turns round in slices where models are equal: one has more examples of the easy ones."""
    level = 0.9 - 0.4 * np.arange(slices) / (slices - 1)
    shares = np.linspace(1.4, 0.6, slices) / slices

    def printed(generator: np.random.Generator) -> bool:
        source = {}
        for name, share in (("a", shares), ("b", shares[::-1])):
            group = generator.choice(slices, n, p=share)
            outcome = (generator.random(n) < level[group]).astype(int)
            source[name] = {
                "id": [f"{name}{i}" for i in range(n)],
                "outcome": outcome,
                "group": group.astype(str),
            }
        results = er.evaluate(source, task="outcome", slices=["group"], join="independent", resamples=2)
        return any(warning.code == "order_reversed_in_slices" for warning in results.warnings)

    return printed


BENEFIT = "who has the highest net benefit: two equal curves"
CELLS = tuple(
    Heading(name, printed)
    for name, printed in (
        ("beats always the most frequent class, n = 200", beats_the_rule("accuracy", 200, 1)),
        ("one of five beats always the most frequent class, n = 200", beats_the_rule("accuracy", 200, 5)),
        ("beats always the mean, n = 200", beats_the_rule("rmse", 200, 1)),
        ("one of five ranks better than guessing, n = 200", beats_the_rule("roc_auc", 200, 5)),
        ("segments name one of 5 groups of 60", names_a_group([60] * 5, 0.3)),
        ("segments name one of 30 groups of 60", names_a_group([60] * 30, 0.3)),
        ("segments name one of 10 groups, one of 1,000 and nine of 40", names_a_group([1000] + [40] * 9, 0.05)),
        ("segments: gaps larger than noise gives, three metrics, 5 groups of 60", gaps_beyond_noise([60] * 5)),
        ("calibrated probabilities are off, n = 400, 30 % events", off_though_calibrated(400, -1.0, 1.2)),
        ("calibrated probabilities are off, n = 3,000, 3 % events", off_though_calibrated(3000, -4.0, 1.0)),
        ("no overall winner: two equal curves, n = 120", curves_cross(120, 0.0)),
        ("no overall winner: two equal curves, correlation 0.8, n = 400", curves_cross(400, 0.8)),
        *(
            (f"{BENEFIT}, {count} thresholds, n = {n}", highest_benefit(n, declared))
            for count, declared in ((11, "0.2:0.3"), (20, "0.05:0.24"), (40, "0.05:0.44"), (99, "0.01:0.99"))
            for n in ((400, 2000) if count in (11, 40) else (2000,))
        ),
        ("metrics disagree: two equal models, n = 400", metrics_disagree(400, (0.8, 0.8))),
        *(
            (f"ahead at some cost ratio: {what}", ahead_somewhere(n, [noise] * models, middle, spread))
            for what, n, noise, models, middle, spread in (
                ("two equal models, n = 1,000", 1000, 1.0, 2, 0.0, 2.0),
                ("two equal models, n = 200", 200, 0.5, 2, 0.0, 1.0),
                ("two equal models, 5 % events, n = 2,000", 2000, 1.0, 2, -4.0, 1.5),
                ("five equal models, n = 500", 500, 1.0, 5, 0.0, 2.0),
            )
        ),
        ("metrics disagree: equal recall, one ahead on the others, n = 400", metrics_disagree(400, (0.9, 0.7))),
        ("a second metric tells two equal models apart, n = 200", second_metric(200)),
        ("a second metric tells two equal models apart, n = 1,000", second_metric(1000)),
        ("order turns round in equal slices: 2 of 2, n = 800", order_turns(800, 2)),
        ("order turns round in equal slices: most of 5, n = 2,000", order_turns(2000, 5)),
    )
)  # fmt: skip


def counted(cell: Heading, generator: np.random.Generator, number: int) -> Mapping[str, float]:
    """Say whether the sentence is printed."""
    del number
    return {"printed": cell.printed(generator)}


STUDY = Study("Headings", CELLS, counted, limits({"printed": ("at most", LIMIT)}))
