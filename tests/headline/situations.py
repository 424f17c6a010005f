#!/usr/bin/env python3
"""Situations whose truth is known, to try a report's first sentence on: writes each one's files and its commands.

    python tests/headline/situations.py [-o DIR] [NAME ...]        default: all, into .cache/situations

Every situation becomes DIR/NAME/ with its prediction files and commands.json: a list of commands (argv, the first
word "evalreport" stands for the executable), run one after another in DIR/NAME. The LAST command makes what is judged:
a report in out/ (or, for compare-runs, Markdown in out/changes.md). Seeds are fixed; nothing is random between two calls.
Needs numpy only.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

QUICK = ["--resamples", "500", "-f", "json,md,html", "--time", "2025-03-01T02:00:00Z"]
SITUATIONS: dict[str, Callable[[Path], list[list[str]]]] = {}


def situation(make: Callable[[Path], list[list[str]]]) -> Callable[[Path], list[list[str]]]:
    """Register a situation under its function's name."""
    SITUATIONS[make.__name__] = make
    return make


# --- helpers ------------------------------------------------------------------------------------------------------------


def write(path: Path, columns: dict[str, Iterable[object]]) -> None:
    """Write columns as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = [list(column) for column in columns.values()]
    assert len({len(v) for v in values}) == 1, {k: len(v) for k, v in zip(columns, values, strict=True)}
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        for row in zip(*values, strict=True):
            out.writerow([f"{v:.9g}" if isinstance(v, float | np.floating) else v for v in row])


def ids(n: int, prefix: str = "e") -> list[str]:
    """Give ids e00000, e00001, ..."""
    return [f"{prefix}{i:06d}" for i in range(n)]


def run(*further: str, models: str = "models") -> list[list[str]]:
    """Give the one command of a run."""
    return [["evalreport", "run", models, "-o", "out", *QUICK, *further]]


def truth(n: int, positives: int, rng: np.random.Generator) -> np.ndarray:
    """Give exactly so many positives in random places."""
    y = np.zeros(n, int)
    y[rng.permutation(n)[:positives]] = 1
    return y


def latent(y: np.ndarray, d: float, rng: np.random.Generator, common: np.ndarray, rho: float) -> np.ndarray:
    """Give normal scores whose classes lie d apart, which share a part with other models: AUC = Phi(d / sqrt 2)."""
    return d * y + rho * common + np.sqrt(1 - rho * rho) * rng.normal(size=len(y))


def probability(z: np.ndarray, d: float, share: float) -> np.ndarray:
    """Give the true probability of the positive class, where a share of that size is positive."""
    return 1 / (1 + np.exp(-(np.log(share / (1 - share)) + d * z - d * d / 2)))


def right_by(
    n: int, both: int, only_a: int, only_b: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Say on which examples each of two models is right: exactly so many each."""
    a, b = np.zeros(n, bool), np.zeros(n, bool)
    order = rng.permutation(n)
    a[order[: both + only_a]] = True
    b[order[:both]] = True
    b[order[both + only_a : both + only_a + only_b]] = True
    return a, b


def labels(y: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Give the predicted label of two, right where it should be."""
    return np.where(right, y, 1 - y)


def some(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Give a mask with exactly k set."""
    mask = np.zeros(n, bool)
    mask[rng.permutation(n)[:k]] = True
    return mask


def right_in(
    y: np.ndarray, found: int, cleared: int, rng: np.random.Generator, order: np.ndarray | None = None
) -> np.ndarray:
    """Be right on exactly so many of the positives and so many of the negatives."""
    right = np.zeros(len(y), bool)
    for label, k in ((1, found), (0, cleared)):
        where = np.flatnonzero(y == label)
        where = where[np.argsort(order[where])] if order is not None else rng.permutation(where)
        right[where[:k]] = True
    return right


def pair(d: Path, n: int, both: int, only_a: int, only_b: int, names: tuple[str, str], seed: int) -> None:
    """Write two models with labels alone and exactly known answers."""
    rng = np.random.default_rng(seed)
    y = truth(n, n // 2, rng)
    for name, right in zip(names, right_by(n, both, only_a, only_b, rng), strict=True):
        write(d / f"models/{name}.csv", {"id": ids(n), "y_true": y, "y_pred": labels(y, right)})


# --- two classes ----------------------------------------------------------------------------------------------------------


@situation
def bin_clear(d):
    """2,000 balanced examples, labels: forest right on 1,720, logreg on 1,600 (220 : 100 discordant)."""
    pair(d, 2000, 1500, 220, 100, ("forest", "logreg"), 1)
    return run()


@situation
def bin_rare_bal(d):
    """130 of 6,500 positive. logreg calls almost none (finds 1); logreg_bal finds 93 at ~19 % false alarms and ranks better."""
    rng = np.random.default_rng(2)
    y = truth(6500, 130, rng)
    common = rng.normal(size=6500)
    for name, sep, cut_found, cut_alarms in (("logreg", 0.9, 1, 0), ("logreg_bal", 1.5, 93, 1240)):
        z = latent(y, sep, rng, common, 0.8)
        order = np.argsort(np.argsort(-z))
        pred = np.zeros(6500, int)
        pred[np.flatnonzero(y == 1)[np.argsort(order[y == 1])[:cut_found]]] = 1
        pred[np.flatnonzero(y == 0)[np.argsort(order[y == 0])[:cut_alarms]]] = 1
        p = probability(z, sep, 0.02 if name == "logreg" else 0.5)
        write(d / f"models/{name}.csv", {"id": ids(6500), "y_true": y, "y_pred": pred, "p_1": p})
    return run()


@situation
def bin_rare_proba(d):
    """100 of 5,000 positive, probabilities only. gbm AUC about 0.92, nb about 0.76; at 0.5 both call almost nothing."""
    rng = np.random.default_rng(3)
    y = truth(5000, 100, rng)
    common = rng.normal(size=5000)
    for name, sep in (("gbm", 2.0), ("nb", 1.0)):
        z = latent(y, sep, rng, common, 0.7)
        write(d / f"models/{name}.csv", {"id": ids(5000), "y_true": y, "p_1": probability(z, sep, 0.02)})
    return run()


@situation
def bin_labels_undecided(d):
    """300 examples, labels: a right on 242, b on 238 (22 : 18 discordant). Nothing is decided."""
    pair(d, 300, 220, 22, 18, ("tree", "svm"), 5)
    return run()


@situation
def bin_scores_only(d):
    """Scores without a threshold: isolation AUC 0.76, autoencoder 0.87, 1,000 examples of which 200 positive."""
    rng = np.random.default_rng(6)
    y = truth(1000, 200, rng)
    common = rng.normal(size=1000)
    for name, sep in (("isolation", 1.0), ("autoencoder", 1.6)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(1000), "y_true": y, "score": 10 * latent(y, sep, rng, common, 0.6)},
        )
    return run()


@situation
def bin_mixed(d):
    """rules: labels only; gbm: probabilities; siamese: scores only, and the best ranking of all (AUC 0.92 against 0.80)."""
    rng = np.random.default_rng(7)
    y = truth(1200, 600, rng)
    common = rng.normal(size=1200)
    z = latent(y, 1.2, rng, common, 0.5)
    write(d / "models/gbm.csv", {"id": ids(1200), "y_true": y, "p_1": probability(z, 1.2, 0.5)})
    write(
        d / "models/siamese.csv",
        {"id": ids(1200), "y_true": y, "score": 7 * latent(y, 2.0, rng, common, 0.5)},
    )
    write(
        d / "models/rules.csv",
        {"id": ids(1200), "y_true": y, "y_pred": labels(y, right_in(y, 400, 400, rng))},
    )
    return run()


@situation
def bin_nobody_beats_trivial(d):
    """A trivial model is named baseline (always "0", right on 850 of 1,000); gbm 853 and svm 848 are undecided against it."""
    rng = np.random.default_rng(10)
    y = truth(1000, 150, rng)
    write(d / "models/always_0.csv", {"id": ids(1000), "y_true": y, "y_pred": np.zeros(1000, int)})
    for name, found, cleared in (("gbm", 24, 829), ("svm", 20, 828)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(1000), "y_true": y, "y_pred": labels(y, right_in(y, found, cleared, rng))},
        )
    return run("-b", "always_0")


@situation
def bin_tie_first(d):
    """Balanced, n 1,000: ann and bob right on 850 each (60 : 60 discordant), carl on 700, inside what ann gets right."""
    rng = np.random.default_rng(11)
    y = truth(1000, 500, rng)
    ann, bob = right_by(1000, 790, 60, 60, rng)
    carl = ann & bob
    carl[np.flatnonzero(carl)[:90]] = False
    for name, right in (("ann", ann), ("bob", bob), ("carl", carl)):
        write(d / f"models/{name}.csv", {"id": ids(1000), "y_true": y, "y_pred": labels(y, right)})
    return run()


@situation
def bin_identical_three(d):
    """Three models give the same answer to each of 500 examples (right on 420)."""
    rng = np.random.default_rng(12)
    y = truth(500, 250, rng)
    pred = labels(y, some(500, 420, rng))
    for name in ("v1", "v2", "v3"):
        write(d / f"models/{name}.csv", {"id": ids(500), "y_true": y, "y_pred": pred})
    return run()


@situation
def bin_acc_up_auc_down(d):
    """Balanced, n 3,000. hard: accuracy 0.80 but AUC about 0.82; soft: accuracy about 0.77 at a bad threshold, AUC about 0.88."""
    rng = np.random.default_rng(15)
    y = truth(3000, 1500, rng)
    pred = labels(y, some(3000, 2400, rng))
    p = np.where(pred == 1, 0.8, 0.2) + 0.15 * (rng.random(3000) - 0.5)
    write(d / "models/hard.csv", {"id": ids(3000), "y_true": y, "y_pred": pred, "p_1": p})
    z = latent(y, 1.66, rng, rng.normal(size=3000), 0.0)
    p = probability(z, 1.66, 0.5)
    write(d / "models/soft.csv", {"id": ids(3000), "y_true": y, "y_pred": (p >= 0.77).astype(int), "p_1": p})
    return run()


@situation
def bin_minority_awful(d):
    """400 of 4,000 positive, labels. strict: accuracy 0.9105, finds 60 of 400; keen: accuracy 0.8855, finds 280 of 400."""
    rng = np.random.default_rng(16)
    y = truth(4000, 400, rng)
    for name, found, cleared in (("strict", 60, 3582), ("keen", 280, 3262)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(4000), "y_true": y, "y_pred": labels(y, right_in(y, found, cleared, rng))},
        )
    return run()


@situation
def bin_thresholds_unlike(d):
    """One model, its labels cut at 0.5 and at 0.3: the same probabilities, so the same ranking; accuracy differs (900 of 3,000)."""
    rng = np.random.default_rng(17)
    y = truth(3000, 900, rng)
    p = probability(latent(y, 1.2, rng, rng.normal(size=3000), 0.0), 1.2, 0.3)
    for name, at in (("cut_50", 0.5), ("cut_20", 0.2)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(3000), "y_true": y, "y_pred": (p >= at).astype(int), "p_1": p},
        )
    return run()


@situation
def bin_primary_f1(d):
    """-m f1: 900 of 3,000 positive. xgb F1 0.70, rf F1 0.60, far apart."""
    rng = np.random.default_rng(18)
    y = truth(3000, 900, rng)
    for name, found, cleared in (("xgb", 630, 1830), ("rf", 495, 1845)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(3000), "y_true": y, "y_pred": labels(y, right_in(y, found, cleared, rng))},
        )
    return run("-m", "f1", "-m", "accuracy")


@situation
def bin_margin_equivalent(d):
    """N 4,000, margin 0.02: new right on 3,404, old on 3,400 (104 : 100). Within the margin."""
    pair(d, 4000, 3300, 104, 100, ("new", "old"), 20)
    return run("--margin", "0.02")


@situation
def bin_margin_noninf_names(d):
    """As a non-inferior pair, the same numbers under other names: the small model comes first in the alphabet."""
    pair(d, 1500, 1140, 72, 60, ("compact", "large"), 21)
    return run("--margin", "0.02")


@situation
def bin_margin_noninf_baseline(d):
    """A non-inferior pair with -b large."""
    pair(d, 1500, 1140, 72, 60, ("small", "large"), 21)
    return run("--margin", "0.02", "-b", "large")


@situation
def bin_five(d):
    """N 2,000: a and b (0.900, 0.8975) are not told apart; c 0.86, d 0.85, e 0.80 are behind."""
    rng = np.random.default_rng(24)
    y = truth(2000, 1000, rng)
    order = rng.permutation(2000)
    for name, k in (("a", 1800), ("b", 1795), ("c", 1720), ("d", 1700), ("e", 1600)):
        right = np.zeros(2000, bool)
        right[order[:k]] = True
        flips = rng.permutation(2000)[:80]
        swap = flips[right[flips]][:30]
        gain = flips[~right[flips]]
        right[swap[: len(gain)]] = False
        right[gain[: len(swap)]] = True
        write(d / f"models/{name}.csv", {"id": ids(2000), "y_true": y, "y_pred": labels(y, right)})
    return run()


@situation
def bin_fifteen(d):
    """15 models, n 1,000: m01 to m06 within 0.01, m07 to m15 at 0.80 down to 0.64: behind by 0.07 or more."""
    rng = np.random.default_rng(25)
    y = truth(1000, 500, rng)
    order = rng.permutation(1000)
    for i in range(15):
        k = 880 - 2 * i if i < 6 else 800 - 20 * (i - 6)
        right = np.zeros(1000, bool)
        right[order[:k]] = True
        wrong, ok = np.flatnonzero(~right), np.flatnonzero(right)
        moved = rng.permutation(len(wrong))[:25]
        right[wrong[moved]] = True
        right[ok[rng.permutation(len(ok))[:25]]] = False
        write(d / f"models/m{i + 1:02d}.csv", {"id": ids(1000), "y_true": y, "y_pred": labels(y, right)})
    return run()


@situation
def bin_baseline_better(d):
    """Baseline prod (0.80), candidate 0.84 (200 : 120 of 2,000)."""
    pair(d, 2000, 1480, 200, 120, ("candidate", "prod"), 26)
    return run("-b", "prod")


@situation
def bin_baseline_two_better(d):
    """Baseline prod 0.80; up 0.85 and more 0.88, both decided; more is decidedly better than up, too."""
    rng = np.random.default_rng(127)
    y = truth(2000, 1000, rng)
    prod = some(2000, 1600, rng)
    found = {"prod": prod}
    for name, lost, won in (("up", 60, 160), ("more", 60, 220)):
        right = prod.copy()
        right[rng.permutation(np.flatnonzero(prod))[:lost]] = False
        right[rng.permutation(np.flatnonzero(~prod))[:won]] = True
        found[name] = right
    for name, right in found.items():
        write(d / f"models/{name}.csv", {"id": ids(2000), "y_true": y, "y_pred": labels(y, right)})
    return run("-b", "prod")


@situation
def bin_baseline_undecided(d):
    """Baseline prod 0.78; candidate 0.81, n 400 (52 : 40): undecided, 0.03 [-0.017, 0.077]: worth having, if true."""
    pair(d, 400, 272, 52, 40, ("candidate", "prod"), 128)
    return run("-b", "prod")


@situation
def bin_single_rare(d):
    """One model, 100 of 5,000 positive, probabilities (AUC about 0.92): useful ranking, accuracy at 0.5 as good as "never"."""
    rng = np.random.default_rng(28)
    y = truth(5000, 100, rng)
    p = probability(latent(y, 2.0, rng, rng.normal(size=5000), 0.0), 2.0, 0.02)
    write(d / "models/gbm.csv", {"id": ids(5000), "y_true": y, "p_1": p})
    return run()


@situation
def bin_too_high_rare(d):
    """60 events of 3,000, 84 were foretold: 1.4 times as many (Poisson: p < 0.01), observed / foretold 0.71 [0.55, 0.92]; slope
    and intercept fitted together are compatible with 1 and 0, because few events lie far from a log odds of 0.
    """
    return _too_high(d, 3000, 60, 318)


@situation
def bin_too_high_more(d):
    """400 events of 20,000; 2.8 % are foretold on average, 2.0 % happen: with 400 events that is decided beyond doubt."""
    return _too_high(d, 20000, 400, 31)


def _too_high(d: Path, n: int, events: int, seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    y = truth(n, events, rng)
    common = rng.normal(size=n)
    for name, sep in (("glm", 1.5), ("gam", 1.55)):
        p = probability(latent(y, sep, rng, common, 0.95), sep, 0.02)
        low, high = 1.0, 3.0
        for _ in range(60):  # the odds are multiplied until 40 % more is foretold than happens
            by = (low + high) / 2
            odds = by * p / (1 - p)
            low, high = (by, high) if (odds / (1 + odds)).mean() < 1.4 * events / n else (low, by)
        write(d / f"models/{name}.csv", {"id": ids(n), "y_true": y, "p_1": odds / (1 + odds)})
    return run("-m", "roc_auc", "-m", "log_loss", "-m", "calibration_slope", "-m", "calibration_intercept")


@situation
def bin_calibrated(d):
    """Two well calibrated models, 2,000 of 4,000: AUC 0.84 and 0.80."""
    rng = np.random.default_rng(32)
    y = truth(4000, 2000, rng)
    common = rng.normal(size=4000)
    for name, sep in (("glm", 1.4), ("nb", 1.2)):
        z = latent(y, sep, rng, common, 0.9)
        write(d / f"models/{name}.csv", {"id": ids(4000), "y_true": y, "p_1": probability(z, sep, 0.5)})
    return run("-m", "roc_auc")


@situation
def bin_small_wide(d):
    """N 60: a right on 48, b on 42 (12 : 6): 0.10 apart, undecided, the interval from about -0.04 to 0.24: nothing is close."""
    pair(d, 60, 36, 12, 6, ("a_model", "b_model"), 35)
    return run()


@situation
def bin_overconfident(d):
    """The same ranking and labels, but sharp's log odds are 4 times too large: log loss far worse, accuracy and AUC equal."""
    rng = np.random.default_rng(36)
    y = truth(2000, 1000, rng)
    z = latent(y, 1.4, rng, rng.normal(size=2000), 0.0)
    p = probability(z, 1.4, 0.5)
    odds = (p / (1 - p)) ** 4
    write(d / "models/plain.csv", {"id": ids(2000), "y_true": y, "p_1": p})
    write(d / "models/sharp.csv", {"id": ids(2000), "y_true": y, "p_1": odds / (1 + odds)})
    return run()


@situation
def bin_inverted(d):
    """A column of the wrong class: flipped's probabilities are those of the other class (AUC 0.16), right's AUC is 0.84."""
    rng = np.random.default_rng(37)
    y = truth(1500, 750, rng)
    common = rng.normal(size=1500)
    p = probability(latent(y, 1.4, rng, common, 0.9), 1.4, 0.5)
    q = probability(latent(y, 1.4, rng, common, 0.9), 1.4, 0.5)
    write(d / "models/upright.csv", {"id": ids(1500), "y_true": y, "p_1": p})
    write(d / "models/flipped.csv", {"id": ids(1500), "y_true": y, "p_1": 1 - q})
    return run()


@situation
def bin_independent(d):
    """--join independent: each model on its own 600 examples, 0.88 and 0.80."""
    rng = np.random.default_rng(40)
    for name, k in (("east", 528), ("west", 480)):
        y = truth(600, 300, rng)
        write(
            d / f"models/{name}.csv",
            {"id": ids(600, name), "y_true": y, "y_pred": labels(y, some(600, k, rng))},
        )
    return run("--join", "independent")


@situation
def bin_weights(d):
    """By weight b is ahead (0.85 against 0.80), by number a is (0.84 against 0.80): --weight w."""
    rng = np.random.default_rng(41)
    n = 2000
    y = truth(n, 1000, rng)
    heavy = np.arange(n) < 400
    a, b = np.zeros(n, bool), np.zeros(n, bool)
    a[some(n, n, rng) & heavy] = False
    a[np.flatnonzero(heavy)[:280]] = True  # 0.70 of the heavy
    a[np.flatnonzero(~heavy)[:1400]] = True  # 0.875 of the light
    b[np.flatnonzero(heavy)[40:400]] = True  # 0.90 of the heavy
    b[np.flatnonzero(~heavy)[360:1600]] = True  # 0.775 of the light
    w = np.where(heavy, 5.0, 1.0)
    for name, right in (("alpha", a), ("beta", b)):
        write(d / f"models/{name}.csv", {"id": ids(n), "y_true": y, "y_pred": labels(y, right), "w": w})
    return run("--weight", "w")


@situation
def bin_clusters_few(d):
    """6 hospitals of 200: a ahead by 0.05, all of it from two hospitals: by examples decided, by 6 clusters not."""
    rng = np.random.default_rng(42)
    site, y, a, b = [], [], [], []
    for k, (only_a, only_b) in enumerate(((50, 10), (45, 10), (12, 12), (10, 13), (14, 12), (12, 15))):
        right_a, right_b = right_by(200, 130, only_a, only_b, rng)
        site += [f"h{k}"] * 200
        y.append(truth(200, 100, rng))
        a.append(right_a)
        b.append(right_b)
    truths = np.concatenate(y)
    for name, right in (("cnn", a), ("vit", b)):
        write(
            d / f"models/{name}.csv",
            {
                "id": ids(1200),
                "y_true": truths,
                "y_pred": labels(truths, np.concatenate(right)),
                "hospital": site,
            },
        )
    return run("--cluster", "hospital")


# --- slices ------------------------------------------------------------------------------------------------------------------


@situation
def slice_collapse(d):
    """Baseline prod 0.80 everywhere. next: 0.84 in all, but in region west (200 of 2,000) 0.80 -> 0.50."""
    rng = np.random.default_rng(50)
    y = truth(2000, 1000, rng)
    west = np.arange(2000) < 200
    prod, new = np.zeros(2000, bool), np.zeros(2000, bool)
    prod[np.flatnonzero(west)[:160]] = True
    new[np.flatnonzero(west)[40:140]] = True
    a, b = right_by(1800, 1380, 200, 60, rng)
    new[~west], prod[~west] = a, b
    region = np.where(west, "west", np.where(np.arange(2000) % 2 == 0, "north", "south"))
    for name, right in (("next", new), ("prod", prod)):
        write(
            d / f"models/{name}.csv",
            {"id": ids(2000), "y_true": y, "y_pred": labels(y, right), "region": region},
        )
    return run("-b", "prod", "--slice", "region")


# --- several classes ------------------------------------------------------------------------------------------------------------


@situation
def multi_balanced(d):
    """5 classes of 300: vit right on 1,290, cnn on 1,200, decided."""
    rng = np.random.default_rng(60)
    y = np.repeat(np.arange(5), 300)
    a, b = right_by(1500, 1120, 170, 80, rng)
    for name, right in (("vit", a), ("cnn", b)):
        pred = np.where(right, y, (y + 1 + rng.integers(0, 4, 1500)) % 5)
        write(
            d / f"models/{name}.csv",
            {"id": ids(1500), "y_true": [f"c{k}" for k in y], "y_pred": [f"c{k}" for k in pred]},
        )
    return run()


# --- numbers ----------------------------------------------------------------------------------------------------------------


def _regression(d: Path, y: np.ndarray, errors: dict[str, np.ndarray]) -> None:
    for name, e in errors.items():
        write(
            d / f"models/{name}.csv",
            {"id": ids(len(y)), "y_true": y.astype(float), "y_pred": (y + e).astype(float)},
        )


@situation
def reg_clear(d):
    """N 800, target about 200 +- 40: gbm RMSE 10, ols RMSE 14, decided."""
    rng = np.random.default_rng(70)
    y = 200 + 40 * rng.normal(size=800)
    base = rng.normal(size=800)
    _regression(
        d,
        y,
        {
            "gbm": 10 * (0.6 * base + 0.8 * rng.normal(size=800)),
            "ols": 14 * (0.6 * base + 0.8 * rng.normal(size=800)),
        },
    )
    return run()


@situation
def reg_outlier(d):
    """N 500: tree errs by 4 on average where ridge errs by 8, but one prediction of tree is off by 400: RMSE undecided or behind."""
    rng = np.random.default_rng(71)
    y = 200 + 40 * rng.normal(size=500)
    tree, ridge = 5 * rng.normal(size=500), 10 * rng.normal(size=500)
    tree[17] = 400.0
    _regression(d, y, {"tree": tree, "ridge": ridge})
    return run()


@situation
def reg_mae_rmse_opposed(d):
    """N 3,000: steady RMSE 10, MAE 8.0; spiky MAE 5, RMSE about 16 (8 % of its errors are large). Both decided, in opposite ways."""
    rng = np.random.default_rng(72)
    y = 200 + 60 * rng.normal(size=3000)
    steady = 10 * rng.normal(size=3000)
    spiky = np.where(rng.random(3000) < 0.08, 55 * rng.normal(size=3000), 2.5 * rng.normal(size=3000))
    _regression(d, y, {"steady": steady, "spiky": spiky})
    return run()


@situation
def reg_huge(d):
    """Sales in euros: 2e9 +- 5e8, net RMSE 41 million, arima 55 million, decided."""
    rng = np.random.default_rng(74)
    y = 2e9 + 5e8 * rng.normal(size=600)
    base = rng.normal(size=600)
    _regression(
        d,
        np.round(y),
        {
            "net": np.round(4.1e7 * (0.6 * base + 0.8 * rng.normal(size=600))),
            "arima": np.round(5.5e7 * (0.6 * base + 0.8 * rng.normal(size=600))),
        },
    )
    return run()


@situation
def reg_tiny(d):
    """Concentrations of 3e-7 mol/l +- 1e-7: net RMSE 2e-8, ols 3e-8, decided."""
    rng = np.random.default_rng(75)
    y = 3e-7 + 1e-7 * rng.normal(size=600)
    base = rng.normal(size=600)
    _regression(
        d,
        y,
        {
            "net": 2e-8 * (0.6 * base + 0.8 * rng.normal(size=600)),
            "ols": 3e-8 * (0.6 * base + 0.8 * rng.normal(size=600)),
        },
    )
    return run()


@situation
def reg_single(d):
    """One model: RMSE 10, the target's sd is 40."""
    rng = np.random.default_rng(77)
    y = 200 + 40 * rng.normal(size=500)
    _regression(d, y, {"gbm": 10 * rng.normal(size=500)})
    return run()


# --- outcomes, suites, attempts, judges ------------------------------------------------------------------------------------


@situation
def outcome_passed(d):
    """Graded elsewhere: agent_v2 passes 310 of 500, agent_v1 255 (95 : 40)."""
    rng = np.random.default_rng(81)
    a, b = right_by(500, 215, 95, 40, rng)
    for name, right in (("agent_v2", a), ("agent_v1", b)):
        write(d / f"models/{name}.csv", {"id": ids(500), "passed": right.astype(int)})
    return run()


def _suite(d: Path, tasks: dict[str, tuple[int, int, int, int]], names: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns: dict[str, dict[str, list]] = {name: {"task": [], "id": [], "outcome": []} for name in names}
    for task, (n, both, only_a, only_b) in tasks.items():
        for name, right in zip(names, right_by(n, both, only_a, only_b, rng), strict=True):
            columns[name]["task"] += [task] * n
            columns[name]["id"] += ids(n, "q")
            columns[name]["outcome"] += right.astype(int).tolist()
    for name, found in columns.items():
        write(d / f"models/{name}.csv", found)


@situation
def suite_clear(d):
    """5 tasks of 200: large ahead in each by about 0.10."""
    _suite(
        d, dict.fromkeys(("arith", "code", "law", "math", "med"), (200, 110, 40, 20)), ("large", "small"), 83
    )
    return run()


@situation
def suite_missing_task(d):
    """Small did not run the task "law", on which large is best; --join intersect leaves it out for both: the rest is undecided."""
    _suite(
        d,
        {"law": (200, 40, 150, 5), "math": (200, 120, 21, 20), "med": (200, 120, 20, 22)},
        ("large", "small"),
        84,
    )
    path = d / "models/small.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("law")) + "\n")
    return run("--join", "intersect")


def _judged(
    d: Path, gold_of: Callable[[str, np.ndarray, np.ndarray, np.random.Generator], np.ndarray], seed: int
) -> None:
    """Two models, 1,500 answers, a judge that favours flatter by 0.15; people's word on some rows."""
    rng = np.random.default_rng(seed)
    for name, share in (("flatter", 0.60), ("plain", 0.66)):
        people = some(1500, int(1500 * share), rng)
        judge = people.copy()
        if name == "flatter":
            bad = np.flatnonzero(~people)
            judge[bad[: int(0.55 * len(bad))]] = True
        flips = rng.permutation(1500)[:90]
        judge[flips] = ~judge[flips]
        with_gold = gold_of(name, judge, people, rng)
        gold = [int(p) if g else "" for p, g in zip(people, with_gold, strict=True)]
        write(d / f"models/{name}.csv", {"id": ids(1500, "q"), "outcome": judge.astype(int), "gold": gold})


@situation
def judge_favours(d):
    """The judge passes 0.79 of flatter and 0.66 of plain; people (300 random rows each) 0.60 and 0.66: the judge favours flatter."""
    rows = some(1500, 300, np.random.default_rng(870))
    _judged(d, lambda name, judge, people, rng: rows, 87)
    return run()


@situation
def judge_not_random(d):
    """People only looked at answers that the judge had rejected: their word says nothing of the others."""

    def rejected(name, judge, people, rng):
        chosen = np.zeros(1500, bool)
        chosen[np.flatnonzero(~judge)[:250]] = True
        chosen[np.flatnonzero(judge)[:15]] = True
        return chosen

    _judged(d, rejected, 88)
    return run()


# --- algorithms: folds, data sets, seeds -----------------------------------------------------------------------------------


@situation
def folds10_undecided(d):
    """10 folds of 30: forest 0.03 ahead on average; a plain paired t would decide it, the corrected one does not."""
    rng = np.random.default_rng(90)
    columns: dict[str, dict[str, list]] = {
        m: {"id": [], "fold": [], "y_true": [], "y_pred": []} for m in ("forest", "svm")
    }
    gains = (2, 1, 0, 2, 1, 0, 1, 2, 0, 0)
    for fold, gain in enumerate(gains, 1):
        y = truth(30, 15, rng)
        both = 23
        a, b = right_by(30, both, 2 + gain, 2, rng)
        for name, right in (("forest", a), ("svm", b)):
            own = columns[name]
            own["id"] += ids(30, f"f{fold:02d}_")
            own["fold"] += [fold] * 30
            own["y_true"] += y.tolist()
            own["y_pred"] += labels(y, right).tolist()
    for name, found in columns.items():
        write(d / f"models/{name}.csv", found)
    return run()


def _values(d: Path, rows: list[tuple[str, str, float]], column: str) -> None:
    write(
        d / "models/scores.csv",
        {"dataset": [r[0] for r in rows], "model": [r[1] for r in rows], column: [r[2] for r in rows]},
    )


@situation
def datasets_clear(d):
    """20 data sets, values of "auc": forest ahead of logreg in 17, by 0.02 on average."""
    rng = np.random.default_rng(92)
    rows = []
    for i in range(20):
        base = 0.78 + 0.15 * rng.random()
        gap = 0.024 + 0.004 * rng.normal() if i < 17 else -0.006
        rows += [(f"d{i:02d}", "forest", round(base + gap, 4)), (f"d{i:02d}", "logreg", round(base, 4))]
    _values(d, rows, "auc")
    return run()


@situation
def datasets_mean_vs_ranks(d):
    """22 data sets: net wins 20 by 0.01 to 0.02 and loses 2 by 0.25: signed ranks decide for net (p < 0.01), its mean is lower."""
    rng = np.random.default_rng(93)
    rows = []
    for i in range(22):
        base = 0.70 + 0.15 * rng.random()
        gap = 0.01 + 0.0005 * i if i < 20 else -0.25
        rows += [(f"d{i:02d}", "net", round(base + gap, 4)), (f"d{i:02d}", "tree", round(base, 4))]
    _values(d, rows, "auc")
    return run()


@situation
def seeds_few(d):
    """3 training seeds each, n 400: deep 0.86, 0.80, 0.84; wide 0.82, 0.83, 0.81: training varies as much as the models differ."""
    rng = np.random.default_rng(95)
    y = truth(400, 200, rng)
    order = rng.permutation(400)
    columns: dict[str, list] = {"id": [], "model": [], "seed": [], "y_true": [], "y_pred": []}
    for name, shares in (("deep", (344, 320, 336)), ("wide", (328, 332, 324))):
        for seed, k in enumerate(shares, 1):
            right = np.zeros(400, bool)
            right[order[:k]] = True
            wrong, ok = np.flatnonzero(~right), np.flatnonzero(right)
            right[rng.permutation(wrong)[:15]] = True
            right[rng.permutation(ok)[:15]] = False
            columns["id"] += ids(400)
            columns["model"] += [name] * 400
            columns["seed"] += [seed] * 400
            columns["y_true"] += y.tolist()
            columns["y_pred"] += labels(y, right).tolist()
    write(d / "models/nets.csv", columns)
    return run()


# --- gates ----------------------------------------------------------------------------------------------------------------


@situation
def gate_pass(d):
    """Forest 0.86 leads logreg 0.80; both gates pass."""
    pair(d, 2000, 1500, 220, 100, ("forest", "logreg"), 100)
    return run("--gate", "forest.accuracy >= 0.80", "--gate", "n >= 500")


@situation
def gate_fail_other(d):
    """Forest 0.86 leads; the gate is on logreg (0.80), which is in service, and fails: >= 0.84."""
    pair(d, 2000, 1500, 220, 100, ("forest", "logreg"), 101)
    return run("--gate", "logreg.accuracy >= 0.84")


@situation
def gate_mixed(d):
    """One gate passes, one is undecided, one fails (forest.accuracy >= 0.90)."""
    pair(d, 2000, 1500, 220, 100, ("forest", "logreg"), 103)
    return run(
        "--gate", "n >= 500", "--gate", "forest.accuracy >= 0.855", "--gate", "forest.accuracy >= 0.90"
    )


@situation
def gate_other_metric(d):
    """Strict leads on accuracy (0.9105 : 0.8855); the gate asks strict.recall >= 0.5, and it finds 60 of 400."""
    bin_minority_awful(d)
    return run("--gate", "strict.recall >= 0.5")


@situation
def gate_tie_fail(d):
    """Two models undecided; the gate candidate - prod > -0.01 fails to be shown: undecided, exit 3."""
    pair(d, 300, 220, 20, 20, ("candidate", "prod"), 105)
    return run("-b", "prod", "--gate", "candidate.accuracy - prod.accuracy > -0.01")


# --- compare-runs -----------------------------------------------------------------------------------------------------------


def _two_runs(
    d: Path, further: tuple[str, ...] = (), *, old: tuple[str, ...] = (), inputs: bool = True
) -> list[list[str]]:
    common = ["--resamples", "500", "--time", "2025-03-01T02:00:00Z", "-f", "json,md,html"]
    pairs = ["--inputs", "old", "new"] if inputs else []
    return [
        ["evalreport", "run", "old", "-o", "out_old", *common, *old, *further],
        ["evalreport", "run", "new", "-o", "out", *common, *further],
        ["evalreport", "compare-runs", "out_old", "out", *pairs, "-f", "json", "-o", "out/changes.json"],
        ["evalreport", "compare-runs", "out_old", "out", *pairs, "-f", "md", "-o", "out/changes.md"],
    ]


def _files(d: Path, folder: str, y: np.ndarray, right: dict[str, np.ndarray]) -> None:
    for name, own in right.items():
        write(d / folder / f"{name}.csv", {"id": ids(len(y)), "y_true": y, "y_pred": labels(y, own)})


@situation
def cmp_better(d):
    """The same 2,000 examples: forest 0.80 -> 0.84 (140 : 60), logreg unchanged."""
    rng = np.random.default_rng(110)
    y = truth(2000, 1000, rng)
    new, old = right_by(2000, 1540, 140, 60, rng)
    logreg = some(2000, 1500, rng)
    _files(d, "old", y, {"forest": old, "logreg": logreg})
    _files(d, "new", y, {"forest": new, "logreg": logreg})
    return _two_runs(d)


@situation
def cmp_worse(d):
    """Forest 0.84 -> 0.80, decided; logreg unchanged."""
    rng = np.random.default_rng(111)
    y = truth(2000, 1000, rng)
    old, new = right_by(2000, 1540, 140, 60, rng)
    logreg = some(2000, 1500, rng)
    _files(d, "old", y, {"forest": old, "logreg": logreg})
    _files(d, "new", y, {"forest": new, "logreg": logreg})
    return _two_runs(d)


@situation
def cmp_undecided(d):
    """N 200: forest right on 168, was 160 (22 : 14): undecided, the interval from -0.02 to +0.10."""
    rng = np.random.default_rng(112)
    y = truth(200, 100, rng)
    new, old = right_by(200, 146, 22, 14, rng)
    _files(d, "old", y, {"forest": old})
    _files(d, "new", y, {"forest": new})
    return _two_runs(d)


@situation
def cmp_better_gate_fails(d):
    """Forest got better (0.80 -> 0.84, decided) but its gate (>= 0.90) fails, as before."""
    rng = np.random.default_rng(115)
    y = truth(2000, 1000, rng)
    new, old = right_by(2000, 1540, 140, 60, rng)
    _files(d, "old", y, {"forest": old})
    _files(d, "new", y, {"forest": new})
    return _two_runs(d, ("--gate", "forest.accuracy >= 0.90"))


@situation
def cmp_one_up_one_down(d):
    """Forest 0.80 -> 0.84, svm 0.84 -> 0.79, both decided."""
    rng = np.random.default_rng(116)
    y = truth(2000, 1000, rng)
    new, old = right_by(2000, 1540, 140, 60, rng)
    svm_old, svm_new = right_by(2000, 1530, 150, 50, rng)
    _files(d, "old", y, {"forest": old, "svm": svm_old})
    _files(d, "new", y, {"forest": new, "svm": svm_new})
    return _two_runs(d)


@situation
def cmp_gate_removed(d):
    """No prediction changed; the gate forest.accuracy >= 0.85, which failed, was taken out of the configuration."""
    rng = np.random.default_rng(117)
    y = truth(2000, 1000, rng)
    forest = some(2000, 1600, rng)
    _files(d, "old", y, {"forest": forest})
    _files(d, "new", y, {"forest": forest})
    return _two_runs(d, old=("--gate", "forest.accuracy >= 0.85"))


# --- audits ------------------------------------------------------------------------------------------------------------------

JITTER = (0.000, 0.004, -0.003, 0.002, -0.004, 0.003, -0.001, 0.001, -0.002, 0.004)


def _audit(d: Path, nights: int, further: tuple[str, ...] = (), *, accept: tuple[int, ...] = (), accept_after: int = 0,
           last: tuple[str, ...] | None = None) -> list[list[str]]:  # fmt: skip
    """Give the commands of nightly audits; some are accepted after so many nights (default: the last accepted one)."""
    url = "sqlite:///audits.db"
    found = []
    for k in range(1, nights + 1):
        stamp = f"2025-03-{k:02d}T02:00:00Z"
        out = ["-o", "out" if k == nights else f"out{k}"]
        form = ["-f", "json,md,html"] if k == nights else ["-f", "json"]
        own = further if last is None or k < nights else last
        found.append(
            [
                "evalreport",
                "audit",
                f"nights/{k:02d}",
                "--history",
                url,
                "--time",
                stamp,
                "--resamples",
                "500",
                *out,
                *form,
                *own,
            ]
        )
        if accept and k == (accept_after or max(accept)):
            found.append(
                [
                    "evalreport",
                    "history",
                    "accept",
                    *map(str, accept),
                    "--history",
                    url,
                    "--note",
                    "good nights",
                ]
            )
    return found


def _night(d: Path, k: int, y: np.ndarray, models: dict[str, dict[str, Iterable[object]]], *, prefix: str | None = None,
           further: dict[str, Iterable[object]] | None = None) -> None:  # fmt: skip
    """Write one night's files; by default its examples are new ones."""
    own = ids(len(y), f"n{k:02d}_" if prefix is None else prefix)
    for name, columns in models.items():
        write(d / f"nights/{k:02d}/{name}.csv", {"id": own, "y_true": y, **columns, **(further or {})})


def _answers(y: np.ndarray, share: float, rng: np.random.Generator) -> dict[str, Iterable[object]]:
    """Be right on that share of either class, so that the mix of predicted labels is that of the truth."""
    positives = int(y.sum())
    return {
        "y_pred": labels(y, right_in(y, round(share * positives), round(share * (len(y) - positives)), rng))
    }


def _ranked(
    y: np.ndarray, sep: float, rng: np.random.Generator, common: np.ndarray, shuffled: float = 0.0
) -> dict[str, Iterable[object]]:
    """Rank by probabilities; those of a share of the examples are shuffled: a worse model whose outputs look as ever."""
    p = probability(latent(y, sep, rng, common, 0.8), sep, 0.3)
    if shuffled:
        where = np.flatnonzero(some(len(y), int(shuffled * len(y)), rng))
        p[where] = p[rng.permutation(where)]
    return {"p_1": p}


CHAMPION = (
    "-b", "champion", "-m", "roc_auc", "--gate", "champion.roc_auc >= 0.80", "--gate", "champion.roc_auc >= accepted - 0.05",
)  # fmt: skip


def _champion(d: Path, nights: int, seed: int, *, shuffled: float, sep: float = 1.40) -> None:
    """Write nights of a champion and a challenger; from night 8 on the champion is worse."""
    rng = np.random.default_rng(seed)
    for k in range(1, nights + 1):
        y = truth(800, 240, rng)
        common = rng.normal(size=800)
        bad = k >= 8
        _night(
            d, k, y,
            {"champion": _ranked(y, sep if bad else 1.40, rng, common, shuffled if bad else 0.0),
             "challenger": _ranked(y, 1.38, rng, common)},
        )  # fmt: skip


@situation
def audit_champion_falls_labels(d):
    """As before, but the champion's scores of night 8 lie closer together: AUC about 0.71, and it calls fewer positives (15 % for 25 %),
    which is an alarm about the data. Both gates on the champion fail.
    """
    _champion(d, 8, 120, shuffled=0.0, sep=0.82)
    return _audit(d, 8, CHAMPION, accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_champion_falls_no_gate(d):
    """A champion that fell, for three nights (8 to 10), without gates."""
    _champion(d, 10, 121, shuffled=0.40)
    return _audit(d, 10, CHAMPION[:4], accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_challenger_falls(d):
    """Baseline champion 0.90 throughout; challenger 0.91 on 7 accepted nights, 0.76 on nights 8 to 11. The champion's gate passes."""
    rng = np.random.default_rng(1210)
    for k in range(1, 12):
        y = truth(1000, 500, rng)
        down = 0.15 if k >= 8 else 0.0
        _night(
            d, k, y,
            {"champion": _answers(y, 0.90 + JITTER[k % 10], rng), "challenger": _answers(y, 0.91 - down - JITTER[k % 10], rng)},
        )  # fmt: skip
    return _audit(
        d, 11, ("-b", "champion", "--gate", "champion.accuracy >= 0.86"), accept=(1, 2, 3, 4, 5, 6, 7)
    )


@situation
def audit_both_fall(d):
    """Both models at 0.90 and 0.88 on 7 accepted nights, at 0.75 and 0.74 on nights 8 to 10. Gates on both fail."""
    rng = np.random.default_rng(123)
    for k in range(1, 11):
        y = truth(1000, 500, rng)
        down = 0.15 if k >= 8 else 0.0
        _night(
            d, k, y,
            {"prod": _answers(y, 0.90 - down + JITTER[k - 1], rng), "shadow": _answers(y, 0.88 - down - JITTER[k - 1], rng)},
        )  # fmt: skip
    gates = ("--gate", "prod.accuracy >= 0.85", "--gate", "shadow.accuracy >= 0.83")
    return _audit(d, 10, gates, accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_single_falls_gate(d):
    """One model, 0.90 on 7 accepted nights, 0.78 on night 8 alone; its gate (>= 0.85) fails; no alarm after one night."""
    rng = np.random.default_rng(124)
    for k in range(1, 9):
        y = truth(1000, 500, rng)
        _night(d, k, y, {"prod": _answers(y, (0.78 if k == 8 else 0.90) + JITTER[k - 1], rng)})
    return _audit(d, 8, ("--gate", "prod.accuracy >= 0.85"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_single_falls_no_gate(d):
    """As before without a gate: one night at 0.78 after seven at 0.90."""
    rng = np.random.default_rng(125)
    for k in range(1, 9):
        y = truth(1000, 500, rng)
        _night(d, k, y, {"prod": _answers(y, (0.78 if k == 8 else 0.90) + JITTER[k - 1], rng)})
    return _audit(d, 8, (), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_quiet_few(d):
    """40 examples a night at 0.90; tonight 0.825 (33 of 40): nothing is decided either way, the gate (>= 0.85) is undecided."""
    rng = np.random.default_rng(128)
    for k in range(1, 9):
        y = truth(40, 20, rng)
        _night(d, k, y, {"prod": _answers(y, 0.825 if k == 8 else 0.90, rng)})
    return _audit(d, 8, ("--gate", "prod.accuracy >= 0.85"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_first(d):
    """The first run of a series: 0.90 and 0.86; nothing to compare with; a gate about accepted passes by default."""
    rng = np.random.default_rng(129)
    y = truth(1000, 500, rng)
    a, b = right_by(1000, 810, 90, 50, rng)
    _night(d, 1, y, {"prod": {"y_pred": labels(y, a)}, "shadow": {"y_pred": labels(y, b)}})
    return _audit(d, 1, ("--gate", "prod.accuracy >= accepted - 0.02"))


@situation
def audit_undecided(d):
    """7 accepted nights at 0.90, tonight 0.885, n 500: gate >= accepted - 0.02 is undecided. Exit 3."""
    rng = np.random.default_rng(130)
    for k in range(1, 9):
        y = truth(500, 250, rng)
        _night(d, k, y, {"prod": _answers(y, 0.886 if k == 8 else 0.90 + JITTER[k - 1], rng)})
    return _audit(d, 8, ("--gate", "prod.accuracy >= accepted - 0.02"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_fall_and_drift(d):
    """Both at once for three nights: positives 0.70 instead of 0.50, and accuracy 0.78 instead of 0.90."""
    rng = np.random.default_rng(132)
    for k in range(1, 11):
        y = truth(1000, 700 if k >= 8 else 500, rng)
        _night(d, k, y, {"prod": _answers(y, (0.78 if k >= 8 else 0.90) + JITTER[k - 1], rng)})
    return _audit(d, 10, (), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_accepted_changed(d):
    """0.90 on nights 1 to 4, 0.80 on 5 to 9; nights 5 to 8 are accepted anew after night 8: nothing changed since THEN,
    and it stands 0.10 below what was accepted before.
    """
    rng = np.random.default_rng(133)
    for k in range(1, 10):
        y = truth(1000, 500, rng)
        _night(d, k, y, {"prod": _answers(y, (0.80 if k >= 5 else 0.90) + JITTER[k - 1], rng)})
    found = _audit(d, 9, (), accept=(1, 2, 3, 4))
    again = [
        "evalreport",
        "history",
        "accept",
        "5",
        "6",
        "7",
        "8",
        "--history",
        "sqlite:///audits.db",
        "--note",
        "the new level",
    ]
    return [*found[:-1], again, found[-1]]


@situation
def audit_slice_falls(d):
    """Region west (200 of 1,000) 0.90 -> 0.60 tonight, elsewhere 0.90 -> 0.93: in all 0.90 -> 0.864."""
    rng = np.random.default_rng(134)
    for k in range(1, 9):
        y = truth(1000, 500, rng)
        west = np.arange(1000) < 200
        right = np.zeros(1000, bool)
        right[west] = some(200, 120 if k == 8 else 180, rng)
        right[~west] = some(800, 744 if k == 8 else 720, rng)
        _night(
            d,
            k,
            y,
            {"prod": {"y_pred": labels(y, right)}},
            further={"region": np.where(west, "west", "rest")},
        )
    return _audit(d, 8, ("--slice", "region"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_jump_up(d):
    """One model: 0.80 on 7 accepted nights, 0.97 on nights 8 and 9: a jump up, which may be a leak. Nothing got worse."""
    rng = np.random.default_rng(136)
    for k in range(1, 10):
        y = truth(1000, 500, rng)
        _night(d, k, y, {"prod": _answers(y, (0.97 if k >= 8 else 0.80) + JITTER[k - 1], rng)})
    return _audit(d, 9, ("--gate", "prod.accuracy >= 0.75"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_same_examples_worse(d):
    """A fixed benchmark of 1,000 examples every night, one model 0.90; night 4 a new version at 0.86 (65 : 25)."""
    rng = np.random.default_rng(137)
    y = truth(1000, 500, rng)
    old, new = right_by(1000, 835, 65, 25, rng)
    for k in range(1, 5):
        _night(d, k, y, {"prod": {"y_pred": labels(y, new if k == 4 else old)}}, prefix="e")
    return _audit(d, 4, (), accept=(1, 2, 3))


@situation
def audit_same_predictions(d):
    """A fixed benchmark of 1,000 examples; prod (baseline) gives the same answers at every run: for it nothing changed indeed.
    shadow, 0.88, gives ten other answers each night.
    """
    rng = np.random.default_rng(1370)
    y = truth(1000, 500, rng)
    right, other = right_by(1000, 840, 60, 40, rng)
    for k in range(1, 5):
        flipped = other.copy()
        flipped[np.flatnonzero(other)[5 * k : 5 * k + 5]] = False
        flipped[np.flatnonzero(~other)[5 * k : 5 * k + 5]] = True
        models = {"prod": {"y_pred": labels(y, right)}, "shadow": {"y_pred": labels(y, flipped)}}
        _night(d, k, y, models, prefix="e")
    return _audit(d, 4, ("-b", "prod", "--gate", "prod.accuracy >= 0.85"), accept=(1, 2, 3))


@situation
def audit_recall_falls(d):
    """100 of 1,000 positive; accuracy 0.90 every night; since two nights recall 0.60 -> 0.10 (fewer false alarms make up for it). The
    gate prod.recall >= 0.5 fails.
    """
    rng = np.random.default_rng(140)
    for k in range(1, 10):
        y = truth(1000, 100, rng)
        found, cleared = (10, 890) if k >= 8 else (60, 840)
        right = right_in(y, found, cleared, rng)
        _night(d, k, y, {"prod": {"y_pred": labels(y, right)}})
    return _audit(d, 9, ("--gate", "prod.recall >= 0.5"), accept=(1, 2, 3, 4, 5, 6, 7))


@situation
def audit_few_accepted(d):
    """Only the first run is accepted (nobody pinned any): 0.90, then three nights at 0.84 (n 1,000)."""
    rng = np.random.default_rng(141)
    for k in range(1, 5):
        y = truth(1000, 500, rng)
        _night(d, k, y, {"prod": _answers(y, 0.84 if k > 1 else 0.90, rng)})
    return _audit(d, 4, ("--gate", "prod.accuracy >= accepted - 0.02"))


@situation
def audit_half_the_rows(d):
    """1,000 examples a night; tonight 300, at the same 0.90: an upstream job lost rows."""
    rng = np.random.default_rng(142)
    for k in range(1, 9):
        y = truth(300 if k == 8 else 1000, 150 if k == 8 else 500, rng)
        _night(d, k, y, {"prod": _answers(y, 0.90, rng)})
    return _audit(d, 8, ("--gate", "prod.accuracy >= 0.85"), accept=(1, 2, 3, 4, 5, 6, 7))


# --- and a few more ----------------------------------------------------------------------------------------------------------


@situation
def names_long(d):
    """Two models under the paths of an experiment tracker; the first 0.06 ahead."""
    pair(
        d,
        2000,
        1500,
        220,
        100,
        ("resnet50-imagenet-lr3e-4-bs256-seed1", "resnet50-imagenet-lr1e-3-bs256-seed1"),
        150,
    )
    return run()


@situation
def trained_on_test(d):
    """200 of the 400 test rows of forest and logreg are among their training rows (part = train): the 0.16 lead says nothing."""
    rng = np.random.default_rng(152)
    y = truth(400, 200, rng)
    a, b = right_by(400, 300, 80, 15, rng)
    for name, right in (("forest", a), ("logreg", b)):
        pred = labels(y, right)
        write(
            d / f"models/{name}.csv",
            {"id": ids(400) + ids(200), "part": ["test"] * 400 + ["train"] * 200,
             "y_true": [*y, *y[:200]], "y_pred": [*pred, *y[:200]]},
        )  # fmt: skip
    return run()


# --- whom it is true of, what was asked, what decides it ----------------------------------------------------------------


def _labelled(d: Path, y: np.ndarray, models: dict[str, np.ndarray], **columns: Iterable[object]) -> None:
    """Write one file of labels for each model."""
    for name, said in models.items():
        write(d / f"models/{name}.csv", {"id": ids(len(y)), "y_true": y, **columns, "y_pred": said})


def _numbers(d: Path, y: np.ndarray, models: dict[str, np.ndarray]) -> None:
    _labelled(d, y.round(4), {name: said.round(4) for name, said in models.items()})


def _three_classes(d: Path, never: tuple[str, ...]) -> None:
    rng = np.random.default_rng(301)
    y = np.repeat(["x", "y", "z"], 80)
    models = {}
    for name, skill in (("a", 0.95), ("b", 0.85), ("c", 0.8)):
        said = np.where(rng.random(240) < skill, y, rng.choice(["x", "y"], 240))
        models[name] = np.where(said == "z", "y", said) if name in never else said
    _labelled(d, y, models)


@situation
def own_never_by_any(d):
    """240 rows of three classes; none of three models ever says “z” (80 examples)."""
    _three_classes(d, ("a", "b", "c"))
    return run()


@situation
def own_never_by_two(d):
    """240 rows of three classes; a and b never say “z” (80 examples), c does."""
    _three_classes(d, ("a", "b"))
    return run("-m", "f1_macro")


@situation
def own_all_wrong(d):
    """150 rows of two classes; both models answer every one wrong: the labels are swapped."""
    y = truth(150, 75, np.random.default_rng(302))
    _labelled(d, y, {"left": 1 - y, "right": 1 - y})
    return run("-m", "accuracy")


@situation
def own_one_class(d):
    """200 rows, 60 “1”; three models say 0 to every one."""
    y = truth(200, 60, np.random.default_rng(303))
    _labelled(d, y, dict.fromkeys(("p", "q", "r"), 0 * y))
    return run("-m", "accuracy")


def _scores(d: Path, turned: tuple[str, ...]) -> None:
    rng = np.random.default_rng(304)
    y = truth(400, 120, rng)
    common = rng.normal(size=400)
    for name, apart in (("iforest", 1.8), ("knn", 1.4), ("lof", 1.0)):
        z = latent(y, apart, rng, common, 0.5)
        write(d / f"models/{name}.csv", {"id": ids(400), "y_true": y, "score": -z if name in turned else z})


@situation
def own_two_inverted(d):
    """Scores of three models, of which two rank the wrong way round; lof does not."""
    _scores(d, ("iforest", "knn"))
    return run()


@situation
def own_all_inverted(d):
    """Scores of three models, all turned round: no model is the better one for having the highest area."""
    _scores(d, ("iforest", "knn", "lof"))
    return run()


@situation
def own_same_numbers(d):
    """100 values; both files hold the same predictions."""
    rng = np.random.default_rng(305)
    y = rng.normal(10, 3, 100)
    said = y + rng.normal(size=100)
    _numbers(d, y, {"monday": said, "tuesday": said})
    return run()


@situation
def own_four_data_sets(d):
    """Four data sets: new is ahead in all, and no test can reach 5 %."""
    rows = [(s, m, v) for s, a, b in zip("abcd", (0.91, 0.94, 0.97, 0.82), (0.90, 0.92, 0.96, 0.80), strict=True)
            for m, v in (("new", a), ("old", b))]  # fmt: skip
    write(d / "models/all.csv", dict(zip(("dataset", "model", "auc"), zip(*rows, strict=True), strict=True)))
    return run("--value", "auc")


@situation
def own_one_positive(d):
    """One “1” of 80; both models rank it first: no variance, no verdict."""
    rng = np.random.default_rng(306)
    y = truth(80, 1, rng)
    for name in ("m1", "m2"):
        write(d / f"models/{name}.csv", {"id": ids(80), "y_true": y, "score": 9 * y + rng.random(80)})
    return run()


@situation
def own_asked_second_metric(d):
    """-m recall -m precision: hunter finds 240 of 300 with 380 alarms, calm 150 with 40: precision goes the other way."""
    rng = np.random.default_rng(307)
    y = truth(2000, 300, rng)
    hunter, calm = right_in(y, 240, 1320, rng), right_in(y, 150, 1660, rng)
    _labelled(d, y, {"hunter": labels(y, hunter), "calm": labels(y, calm)})
    return run("-m", "recall", "-m", "precision")


def _margin(d: Path, n: int, only_a: int, only_b: int) -> list[list[str]]:
    pair(d, n, n // 2, only_a, only_b, ("new", "old"), 308)
    return run("--margin", "0.02")


@situation
def own_margin_beyond(d):
    """4,000 rows, new ahead by 0.10, far beyond the margin of 0.02."""
    return _margin(d, 4000, 600, 200)


@situation
def own_margin_within(d):
    """20,000 rows, new ahead by 0.006, decided and within the margin of 0.02."""
    return _margin(d, 20000, 420, 300)


@situation
def own_margin_either(d):
    """2,000 rows, new ahead by 0.02, decided; whether by more than the margin of 0.02 is open."""
    return _margin(d, 2000, 100, 60)


@situation
def own_missing_wrong(d):
    """600 rows; fragile left 60 empty, and --missing wrong counts them as wrong."""
    rng = np.random.default_rng(309)
    y = truth(600, 300, rng)
    a, b = right_by(600, 400, 80, 70, rng)
    said = np.where(some(600, 60, rng), "", labels(y, b).astype(str))
    _labelled(d, y, {"robust": labels(y, a), "fragile": said})
    return run("--missing", "wrong")


@situation
def own_missing_drop(d):
    """400 rows, 30 of them empty for b: they are left out for both."""
    rng = np.random.default_rng(310)
    y = truth(400, 200, rng)
    a, b = right_by(400, 280, 40, 36, rng)
    said = np.where(some(400, 30, rng), "", labels(y, b).astype(str))
    _labelled(d, y, {"a": labels(y, a), "b": said})
    return run("--missing", "drop")


@situation
def own_intersect(d):
    """500 rows of a, 320 of which b has as well; --join intersect leaves 180 out."""
    rng = np.random.default_rng(311)
    y = truth(500, 250, rng)
    a, b = right_by(500, 380, 30, 30, rng)
    write(d / "models/a.csv", {"id": ids(500), "y_true": y, "y_pred": labels(y, a)})
    write(d / "models/b.csv", {"id": ids(500)[:320], "y_true": y[:320], "y_pred": labels(y, b)[:320]})
    return run("--join", "intersect")


@situation
def own_few_positives(d):
    """30 “1” among 6,000; the areas of both are alike."""
    rng = np.random.default_rng(312)
    y = truth(6000, 30, rng)
    common = rng.normal(size=6000)
    for name in ("u", "v"):
        z = latent(y, 1.5, rng, common, 0.8)
        write(d / f"models/{name}.csv", {"id": ids(6000), "y_true": y, "p_1": probability(z, 1.5, 0.005)})
    return run()


@situation
def own_clusters(d):
    """400 rows of 40 patients, alike in accuracy: the patients are the units."""
    rng = np.random.default_rng(313)
    y = truth(400, 200, rng)
    a, b = right_by(400, 280, 40, 38, rng)
    _labelled(
        d, y, {"cnn": labels(y, a), "vit": labels(y, b)}, patient=[f"p{i % 40:02d}" for i in range(400)]
    )
    return run("--cluster", "patient")


@situation
def own_task_alone(d):
    """Five tasks of 200: large is ahead by 0.40 on code and by nothing on the others."""
    alike = (200, 120, 15, 15)
    tasks = {"arith": alike, "code": (200, 80, 90, 10), "law": alike, "math": alike, "med": alike}
    _suite(d, tasks, ("large", "small"), 314)
    return run()


@situation
def own_slice_alone(d):
    """1,200 rows: next is ahead by 0.35 in region west (200 rows), and as good as prod elsewhere."""
    rng = np.random.default_rng(315)
    y = truth(1200, 600, rng)
    west = np.arange(1200) < 200
    a, b = np.zeros(1200, bool), np.zeros(1200, bool)
    a[:200], b[:200] = right_by(200, 100, 80, 10, rng)
    a[200:], b[200:] = right_by(1000, 820, 40, 40, rng)
    _labelled(d, y, {"next": labels(y, a), "prod": labels(y, b)}, region=np.where(west, "west", "east"))
    return run("--slice", "region")


@situation
def own_turned_in_every_slice(d):
    """Two clinics of 1,000: site ranks the clinics, chart the patients within each; over all site is ahead."""
    rng = np.random.default_rng(316)
    clinic = np.repeat([0, 1], 1000)
    y = (rng.random(2000) < np.where(clinic == 1, 0.8, 0.15)).astype(int)
    site = clinic + 0.05 * rng.normal(size=2000)
    chart = 0.8 * y + rng.normal(size=2000)
    for name, score in (("site", site), ("chart", chart)):
        write(d / f"models/{name}.csv", {"id": ids(2000), "y_true": y, "clinic": clinic, "score": score})
    return run("--slice", "clinic")


@situation
def own_bias_of_the_loser(d):
    """Careful errs by 5; bold by 3, and is 6 too high throughout: without that it would win."""
    rng = np.random.default_rng(317)
    y = rng.normal(100, 20, 400)
    _numbers(d, y, {"careful": y + rng.normal(0, 5, 400), "bold": y + 6 + rng.normal(0, 3, 400)})
    return run()


@situation
def own_bias_of_both(d):
    """Both predict about 4 too low; a errs less."""
    rng = np.random.default_rng(318)
    y = rng.normal(100, 20, 400)
    _numbers(d, y, {"a": y - 4 + rng.normal(0, 4, 400), "b": y - 4 + rng.normal(0, 7, 400)})
    return run()


@situation
def own_one_large_error(d):
    """300 values; tree is off by 300 once, which makes nearly all of its squared error."""
    rng = np.random.default_rng(319)
    y = rng.normal(50, 10, 300)
    tree = y + rng.normal(0, 5, 300)
    tree[7] += 300
    _numbers(d, y, {"ridge": y + rng.normal(0, 5, 300), "tree": tree})
    return run()


@situation
def own_cost_beside_a_lead(d):
    """Opus passes 860 of 1,000, haiku 800, at a twelfth of the cost: both are said."""
    rng = np.random.default_rng(320)
    a, b = right_by(1000, 760, 100, 40, rng)
    for name, right, cost in (("opus", a, 0.012), ("haiku", b, 0.001)):
        costs = cost * rng.lognormal(0, 0.2, 1000)
        write(d / f"models/{name}.csv", {"id": ids(1000), "passed": right.astype(int), "cost": costs})
    return run("--cost", "cost:USD")


@situation
def own_gates_pass_open(d):
    """400 rows, new 0.835, old 0.830: nothing is decided, and all three gates pass: green says so first."""
    pair(d, 400, 310, 24, 22, ("new", "old"), 321)
    return run("--gate", "new.accuracy >= 0.7", "--gate", "old.accuracy >= 0.7", "--gate", "n >= 100")


@situation
def own_gate_fails_with_verdict(d):
    """Forest 0.86, logreg 0.80, decided; a gate of 0.9 fails, and who is ahead is still said."""
    pair(d, 2000, 1500, 220, 100, ("forest", "logreg"), 322)
    return run("--gate", "logreg.accuracy >= 0.9")


@situation
def own_behind_the_baseline(d):
    """Candidate 0.80, prod 0.86, decided: the candidate is the subject."""
    pair(d, 2000, 1500, 220, 100, ("prod", "candidate"), 323)
    return run("--baseline", "prod")


@situation
def own_contenders_in_front(d):
    """Five models: a 0.900 and b 0.898 alike, the others 0.86 or less: both are named in front."""
    rng = np.random.default_rng(324)
    y = truth(2000, 1000, rng)
    order = rng.permutation(2000)
    models = {}
    for name, k in (("a", 1800), ("b", 1796), ("c", 1720), ("d", 1700), ("e", 1600)):
        right = np.zeros(2000, bool)
        right[order[:k]] = True
        swap = rng.permutation(order[:k])[:30]
        right[swap] = False
        right[rng.permutation(order[k:])[: min(30, 2000 - k)]] = True
        models[name] = labels(y, right)
    _labelled(d, y, models)
    return run()


@situation
def own_five_times_two(d):
    """Five repeats of two halves: the folds are counted as 5 × 2, and the verdict is about training again."""
    rng = np.random.default_rng(325)
    y = truth(200, 100, rng)
    for name, skill in (("rf", 0.84), ("et", 0.83)):
        repeat, fold = np.repeat(np.arange(5), 200), np.tile(np.arange(200) % 2, 5)
        said = np.where(rng.random(1000) < skill, np.tile(y, 5), 1 - np.tile(y, 5))
        write(d / f"models/{name}.csv", {"id": ids(200) * 5, "repeat": repeat, "fold": fold,
                                         "y_true": np.tile(y, 5), "y_pred": said})  # fmt: skip
    return run()


@situation
def own_labels_alone(d):
    """Net and bayes give probabilities, rules labels only: it has no area, and that is why."""
    rng = np.random.default_rng(326)
    y = truth(900, 150, rng)
    common = rng.normal(size=900)
    for name in ("net", "bayes"):
        z = latent(y, 1.6, rng, common, 0.8)
        write(d / f"models/{name}.csv", {"id": ids(900), "y_true": y, "p_1": probability(z, 1.6, 0.17)})
    write(
        d / "models/rules.csv", {"id": ids(900), "y_true": y, "y_pred": labels(y, right_in(y, 90, 700, rng))}
    )
    return run()


def main() -> None:
    """Write the situations that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("-o", "--output", default=str(Path(__file__).parents[2] / ".cache" / "situations"))
    given = parser.parse_args()
    for name in given.names or SITUATIONS:
        d = Path(given.output) / name
        shutil.rmtree(d, ignore_errors=True)
        d.mkdir(parents=True)
        commands = SITUATIONS[name](d)
        (d / "commands.json").write_text(json.dumps(commands, indent=1) + "\n")


if __name__ == "__main__":
    main()
