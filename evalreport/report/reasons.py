"""Why a test was chosen for these data, and whether what it assumes holds here, as far as the results show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evalreport import numbers
from evalreport.records import ComparisonRecord
from evalreport.report.view import View, key_of, text_of

LEADS = {
    "mcnemar_midp": "right or wrong answers of two models to the same examples: only those on which they disagree tell "
    "them apart; the mid-p form keeps its level and gives less power away than the exact one",
    "delong": "areas under ROC curves on the same examples are correlated; the test takes that from the data",
    "paired_t": "the metric is a mean of losses over the same examples",
    "permutation": "the metric is no plain mean, or examples come in clusters or repeatedly: swapping the two models’ "
    "answers needs no formula for its error",
    "bootstrap_difference": "no test with a formula fits these data: examples are drawn anew, the same for both models",
    "corrected_resampled_t": "training sets of the fits overlap; the correction widens the error for it",
    "5x2cv_f": "five repeats of two halves: the combined F has lower type I error and more power than the t",
    "wilcoxon": "values on different data sets have no common scale: their order within a data set has",
    "two_proportions_z": "each model was tested on examples of its own, so nothing is paired",
}
BESIDE = {
    "mcnemar_exact": "shown beside the leading test: never above its level, at the price of power",
    "mcnemar": "shown because it is widely taught; the approximation needs many disagreements",
    "mcnemar_corrected": "shown because it is widely taught; the correction makes it as cautious as the exact test",
    "cv_paired_t": "shown because it is widely taught; it never leads, since it takes folds as independent",
    "5x2cv_t": "shown beside F: it depends on which of the ten differences stands first",
    "bayes_correlated_t": "the same data and correlation, read as probabilities of the three cases",
    "tost": "a margin was declared",
    "binomial_exact": "each model alone, against always answering the most frequent class",
    "cochran_q": "asks whether any model differs from any other; it decides no pair",
    "friedman": "asks whether any model differs from any other, by ranks; it decides no pair",
    "iman_davenport": "Friedman’s test with a better approximation; it decides no pair",
    "nemenyi": "all pairs of average ranks at once, as a critical-difference diagram needs them",
}
INDEPENDENT_EXAMPLES = frozenset(
    {"mcnemar_midp", "mcnemar_exact", "mcnemar", "mcnemar_corrected", "delong", "paired_t", "permutation",
     "bootstrap_difference", "two_proportions_z", "wilcoxon", "sign", "cochran_q", "binomial_exact"}
)  # fmt: skip
FEW_DISCORDANT = 25
FEW_OF_A_CLASS = 30
FEW_RESAMPLES = 1000


def why_chosen(view: View, test: str) -> str:
    """Say why a test leads here, or why it is shown; nothing where there is no more to say than its summary."""
    if any(r.recommended and r.test == test for r in view.results.comparisons):
        metrics = {key_of(r) for r in view.results.comparisons if r.recommended and r.test == test}
        where = "" if view.primary in metrics else " (not on the primary metric)"
        return f"leads here{where}: {LEADS[test]}" if test in LEADS else f"leads here{where}"
    if test in view.results.options.get("tests", ()):
        return "it was asked for"
    return BESIDE.get(test, "shown beside the leading test, to see whether the choice of the test matters")


def holds_here(view: View, test: str) -> str:
    """Say what the data show of a test's assumptions; what they cannot show is called assumed."""
    records = [r for r in view.results.comparisons if r.test == test and r.slice is None]
    said = [*_of_examples(view, test), *_of_numbers(view, test, records), *_of_cautions(view, records)]
    return "; ".join(dict.fromkeys(said))


def _of_examples(view: View, test: str) -> Iterator[str]:
    if test not in INDEPENDENT_EXAMPLES or view.results.design == "datasets":
        return
    cluster = view.results.options.get("cluster")
    if cluster:
        yield f"whole clusters of {cluster} are taken as independent, as declared"
    elif view.results.design == "test-set":
        yield "independence of the examples is assumed: the files cannot show it (--cluster names groups)"


def _of_numbers(view: View, test: str, records: list[ComparisonRecord]) -> Iterator[str]:
    check = _NUMBERS.get(test)
    if check is not None:
        yield from check(view)
    lacking = sum(
        r.p_value is None and r.test != "bayes_correlated_t" and r.reason is not None for r in records
    )
    if lacking and not test.startswith("bayes"):
        yield f"refused on {numbers.count(lacking)} of {numbers.count(len(records))} comparisons, each with its reason"


def _discordant(view: View) -> Iterator[str]:
    found = [r.only_a + r.only_b for r in view.results.agreement]
    if found:
        low, high = numbers.count(min(found)), numbers.count(max(found))
        many = low if low == high else f"{low} to {high}"
        enough = min(found) >= FEW_DISCORDANT
        yield f"b + c is {many}: " + (
            "enough for the approximation" if enough else "too few for it in some pairs"
        )


def _class_sizes(view: View) -> Iterator[str]:
    first = view.results.confusion[0].model if view.results.confusion else None
    cells = [c for c in view.results.confusion if c.model == first]
    sizes = [sum(c.count for c in cells if c.true == label) for label in view.results.classes]
    if sizes:
        smallest = numbers.count(min(sizes))
        enough = min(sizes) >= FEW_OF_A_CLASS
        yield f"the rarest class has {smallest} examples: " + (
            "enough" if enough else "few; read the bootstrap too"
        )


def _resamples(view: View) -> Iterator[str]:
    drawn = view.results.options.get("resamples")
    if isinstance(drawn, int):
        yield f"{numbers.count(drawn)} replicates: " + ("enough" if drawn >= FEW_RESAMPLES else "too few")


def _examples(view: View) -> Iterator[str]:
    n = numbers.count(view.results.n)
    yield f"n = {n}; the mean difference is nearly normal unless a few large losses dominate it"


_NUMBERS: dict[str, Callable[[View], Iterator[str]]] = {
    "mcnemar": _discordant,
    "mcnemar_corrected": _discordant,
    "delong": _class_sizes,
    "bootstrap_difference": _resamples,
    "paired_t": _examples,
}


def _of_cautions(view: View, records: list[ComparisonRecord]) -> Iterator[str]:
    """Yield what stands against the test in this layout (its measured size among it), each once."""
    for record in records:
        for part in (record.caution or "").split("; "):
            if part and not part.startswith(("exploratory", "null hypothesis")):
                yield text_of(view, part)
