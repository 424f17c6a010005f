"""docs/intervals.md: which interval when, the z table, and what is left of the rule "n > 30". All by enumeration."""

from __future__ import annotations

import numpy as np
from scipy import stats

from evalreport.intervals.proportions import quantile, wilson_limits
from research.studies.enumeration import (
    proportion_coverage,
    proportion_limits,
    smallest_sample,
)

TRUE_PROPORTIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
LECTURE_Z = ((0.50, 0.67), (0.68, 1.00), (0.90, 1.64), (0.95, 1.96), (0.98, 2.33), (0.99, 2.58))
"""The z_N printed in the lecture notes that evalreport follows."""
ENOUGH = 0.93
"""Coverage at which a 95 % interval of a count is called good enough: 95 % less two points."""
LARGEST = 5000
"""Sample sizes are looked at as far as this."""

HEAD = """\
# Which interval, and why

Written by `make study-coverage`; do not edit. `evalreport list intervals` names them all, `--interval NAME` adds
one, [coverage.md](coverage.md) shows how often each holds the truth. The first interval of a value is the
recommended one; the others stand beside it.
"""

NEVER = """\
Never recommended: `bootstrap_basic`, which reflects the skewness to the wrong side, and `normal` near the ends of a
range, where it is too short or has no width at all.
"""

CHOICE = (
    (
        "accuracy, recall, specificity, precision, top-k: shares of examples",
        "`wilson`",
        "covers near 95 % at any n, never leaves [0, 1], has a width at 0 % and 100 %",
        "`clopper_pearson` where 95 % must be guaranteed (it is wider), `agresti_coull`, `jeffreys`; "
        "`normal` is the textbook's",
    ),
    (
        "any other function of the confusion table: F1, F-beta, MCC, kappa, balanced accuracy, averages",
        "`plus_four`",
        "two right answers and two wrong ones, made up and shared over any number of classes, keep the delta method"
        " away from tables in which nothing seems to vary",
        "`bootstrap_percentile`, `bootstrap_bca`, `normal`",
    ),
    (
        "area under the ROC curve, of one class of several against the rest, too",
        "`logit`; `newcombe_auc` with fewer than 30 of a class or above 0.95",
        "DeLong's error on a scale without ends; Newcombe's where the error itself is unsure",
        "`delong`, the bootstrap",
    ),
    (
        "average precision",
        "`ap_logit`",
        "influence values on the logit scale, with a t quantile that counts the positives",
        "`bootstrap_percentile`",
    ),
    (
        "PR AUC by trapezoids",
        "`pr_auc_logit`",
        "as for average precision, with fewer degrees of freedom where few examples carry the variance",
        "the bootstrap",
    ),
    (
        "partial area under the ROC curve",
        "`partial_auc_wilson`",
        "Wilson's limits with as many trials as the variance amounts to, after a few made-up placements: few negatives"
        " are in the range",
        "the bootstrap",
    ),
    (
        "mean losses of probabilities: log loss, Brier",
        "`hall_df`",
        "Student's t after a map that takes the skewness of the losses out; fewer degrees of freedom where few losses"
        " carry the variance",
        "`hall`, `t`, `bootstrap_bca`",
    ),
    (
        "mean absolute errors",
        "`t_or_hall_df`",
        "the outer limits of Student's t and of the same",
        "`hall`, `t`, `bootstrap_bca`",
    ),
    (
        "mean squared errors and functions of them: RMSE, R²",
        "`hall_tail`",
        "as `hall_df`, and the upper limit includes a tail that the largest errors announce; a run warns where a few of"
        " them carry the sum, since the sample may not hold the tail",
        "`hall`, `t`, `bootstrap_bca`",
    ),
    (
        "means of signed values, of outcomes that are not 0/1",
        "`t`",
        "the mean's own interval",
        "`bootstrap_bca`",
    ),
    (
        "difference of functions of the confusion table, accuracy and recall among them, same examples",
        "`plus_two`",
        "two made-up examples on which one model alone is right; has a width where the models never disagree",
        "`newcombe_paired`, `tango` of accuracy; the bootstrap",
    ),
    (
        "difference of areas under the ROC curve, same examples",
        "`plus_delong`",
        "uses the covariance of the placements, after two made-up differences as large as the pair's own; where both"
        " models give two scores only"
        " `plus_two`",
        "`delong`, `bootstrap_bca`",
    ),
    (
        "difference of average precisions",
        "`ap_mover`",
        "the two models' own limits, squared and added, less what their influence values share",
        "`bootstrap_bca`",
    ),
    (
        "difference of PR AUCs, of partial areas",
        "`pr_auc_mover`, `partial_auc_mover`",
        "the same, from their own limits",
        "`bootstrap_percentile`",
    ),
    (
        "difference of mean losses, of R²",
        "`t_or_hall`; `t` of absolute errors",
        "the paired differences: t with degrees of freedom by the kurtosis, or without skewness, whichever reaches"
        " farther",
        "`bootstrap_bca`",
    ),
    (
        "difference of RMSE",
        "`t_kurtosis`",
        "t of influence values, with degrees of freedom by their kurtosis",
        "`bootstrap_bca`",
    ),
    (
        "difference of models that have test sets of their own",
        "`newcombe_independent` of shares; else `square_and_add`",
        "the distances of both values from their own limits, squared and added: a small set on which a model is"
        " perfect has limits, too",
        "`bootstrap_bca`",
    ),
    (
        "any other difference",
        "`bootstrap_bca`",
        "the same draws serve both models: that is the pairing",
        "`bootstrap_percentile`",
    ),
    (
        "values in a bounded range with `--cluster`, or where ids occur repeatedly",
        "`cluster_wilson`",
        "Wilson's limits on the number of trials that the variance between clusters shows: the larger of the robust and"
        " the exchangeable variance; where every cluster is at an end of the range `clopper_pearson` with n = effective"
        " number of clusters",
        "`cluster_t`, `cr2_t`, the bootstrap of whole clusters",
    ),
    (
        "other values with `--cluster`, and differences",
        "`cluster_t`",
        "Student's t with the same variance and degrees of freedom; attempts at questions have `cr2_t`",
        "`cr2_t`, the bootstrap of whole clusters",
    ),
    (
        "shares of examples with `--weight`",
        "`wilson`",
        "on Kish's effective number of examples; of weighted clusters on Korn and Graubard's",
        "`weighted_t`",
    ),
    (
        "F1 of one class with `--weight`",
        "`weighted_wilson`",
        "Wilson's limits of the Jaccard index on its effective number of examples, mapped",
        "`weighted_t`",
    ),
    (
        "anything else smooth with `--weight`, and differences",
        "`weighted_t`",
        "degrees of freedom by Kish's effective number of examples; of weighted clusters G - 1",
        "`normal`, the bootstrap",
    ),
    (
        "mean costs, costs per success and their ratios",
        "`log_hall`",
        "the outer limits of t and of Hall's map on the log scale (docs/costs.md)",
        "order statistics of the median and the 95th percentile",
    ),
)
"""What is estimated, what leads, why, and what stands beside it."""


def page() -> str:
    """Return the whole document; every figure in it is computed here."""
    return "\n".join([HEAD, _choice(), NEVER, _z_table(), _example(), _rule_of_thirty()])


def _choice() -> str:
    lines = ["| of | leads | why | beside it |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in CHOICE), ""])


def _z_table() -> str:
    lines = [
        "## The z of the textbooks",
        "",
        "An interval e ± z sqrt(e (1 - e) / n) holds the true error with the probability N where z leaves (1 - N) / 2",
        "of a standard normal on either side. Textbooks print two digits; here are the exact values.",
        "",
        "| N | z printed | z | what the printed z holds |",
        "| --- | --- | --- | --- |",
    ]
    for level, printed in LECTURE_Z:
        held = stats.norm.cdf(printed) - stats.norm.cdf(-printed)
        lines.append(f"| {100 * level:.0f} % | {printed:.2f} | {quantile(level):.4f} | {100 * held:.2f} % |")
    one = stats.norm.cdf(1) - stats.norm.cdf(-1)
    lines += [
        "",
        f"A common misprint: z = 1.00 belongs to {100 * one:.2f} %, the share within one standard deviation; at 68 %"
        f" it is {quantile(0.68):.4f}. evalreport computes z from `--confidence` and never looks it up.",
        "",
    ]
    return "\n".join(lines)


def _example() -> str:
    half = quantile(0.95) * np.sqrt(0.2 * 0.8 / 100)
    low, high = wilson_limits(20, 100, 0.95)
    tail = stats.binom.cdf(20, 100, 0.3)
    return (
        "An example, 20 errors on 100 examples: the textbook interval (`normal`) is"
        f" 0.2 ± {half:.4f}, Wilson's {low:.4f} to {high:.4f}. If the true error were 0.3, 20 or fewer errors would"
        f" have the chance {tail:.4f}.\n"
    )


def _rule_of_thirty() -> str:
    lines = [
        '## "Valid for n > 30": it is not',
        "",
        "Textbooks give this interval with the condition n > 30. Enumerated, its 95 % interval holds the",
        "truth this often, and Wilson's beside it (in %):",
        "",
        "| true share p | normal, n = 31 | normal, n = 100 | normal, n = 1000 | wilson, n = 31 | normal is fine from"
        " n = | expected failures there |",
        "| --- " * 7 + "|",
    ]
    truths = np.array(TRUE_PROPORTIONS)
    normal = {
        n: proportion_coverage(n, truths, proportion_limits(n, ("normal",))["normal"])
        for n in (31, 100, 1000)
    }
    wilson = proportion_coverage(31, truths, proportion_limits(31, ("wilson",))["wilson"])
    for i, p in enumerate(TRUE_PROPORTIONS):
        n = smallest_sample(p, at_least=ENOUGH, largest=LARGEST)
        shares = [f"{100 * normal[size][i]:.1f}" for size in normal]
        lines.append(f"| {p:g} | {' | '.join(shares)} | {100 * wilson[i]:.1f} | {n} | {n * (1 - p):.0f} |")
    grid = np.linspace(0.5, 1, 1000, endpoint=False)
    every = proportion_limits(31, ("normal", "wilson"))
    means = {name: proportion_coverage(31, grid, every[name]) for name in ("normal", "wilson")}
    lines += [
        "",
        f'"Fine": at least {100 * ENOUGH:.0f} % from that n on, as far as n = {LARGEST}. Averaged over all p from 0.5'
        f" to 1 at n = 31 the textbook interval holds {100 * means['normal'].mean():.1f} %, Wilson's"
        f" {100 * means['wilson'].mean():.1f} % (least {100 * means['wilson'].min():.1f} %). What decides is not n but"
        " how many successes and how many failures there are: with an error of 1 % it takes thousands of examples. So"
        " evalreport leads with Wilson's interval at every n, shows the textbook one beside it, and warns below 10"
        " successes or failures as well as below 30 examples.",
        "",
    ]
    return "\n".join(lines)
