"""Why a test was chosen for these data, and whether what it assumes holds here, as far as the results show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evalreport import numbers
from evalreport.records import ComparisonRecord
from evalreport.report.naming import entry
from evalreport.report.view import View, key_of, text_of
from evalreport.texts import coded, has, joined, named, say

ABOUT_NO_ASSUMPTION = frozenset({"caution.exploratory", "caution.beyond_margin"})
FEW_DISCORDANT = 25
FEW_OF_A_CLASS = 30
FEW_RESAMPLES = 1000
FEW_CLUSTERS = 10


def why_chosen(view: View, test: str) -> str:
    """Say why a test leads here, or why it is shown; nothing where there is no more to say than its summary."""
    if any(r.recommended and r.test == test for r in view.results.comparisons):
        metrics = {key_of(r) for r in view.results.comparisons if r.recommended and r.test == test}
        here = view.primary in metrics
        if not has(f"reasons.why.{test}"):
            return say("reasons.leads" if here else "reasons.leads_elsewhere")
        why = named("reasons.why", test)
        return say("reasons.leads_why" if here else "reasons.leads_elsewhere_why", why=why)
    if test in view.results.options.get("tests", ()):
        return say("reasons.asked")
    return named("reasons.why_beside", test, say("reasons.beside"))


def holds_here(view: View, test: str) -> str:
    """Say what the data show of a test's assumptions; what they cannot show is called assumed."""
    records = [r for r in view.results.comparisons if r.test == test and r.slice is None]
    said = [*_of_examples(view, test), *_of_numbers(view, test, records), *_of_cautions(view, records)]
    return "; ".join(dict.fromkeys(said))


def _of_examples(view: View, test: str) -> Iterator[str]:
    known = entry("test", test)
    if known is None or not known.of_examples or view.results.design == "datasets":
        return
    cluster = view.results.options.get("cluster")
    if cluster:
        yield say("reasons.clusters", column=cluster)
    elif view.results.design == "test-set":
        yield say("reasons.independence")


def _of_numbers(view: View, test: str, records: list[ComparisonRecord]) -> Iterator[str]:
    known = entry("test", test)
    check = None if known is None else _LARGE_SAMPLES if known.large_samples else _NUMBERS.get(known.needs)
    if check is not None:
        yield from check(view)
    lacking = sum(r.p_value is None and r.reason is not None for r in records)
    if lacking and not (known is not None and known.bayesian):
        yield say("reasons.refused", n=lacking, total=numbers.count(len(records)))


def _discordant(view: View) -> Iterator[str]:
    found = [r.only_a + r.only_b for r in view.results.agreement]
    if found:
        low, high = numbers.count(min(found)), numbers.count(max(found))
        many = low if low == high else say("report.range", low=low, high=high)
        enough = min(found) >= FEW_DISCORDANT
        yield say("reasons.discordant" if enough else "reasons.discordant_few", many=many)


def _class_sizes(view: View) -> Iterator[str]:
    first = view.results.confusion[0].model if view.results.confusion else None
    cells = [c for c in view.results.confusion if c.model == first]
    sizes = [sum(c.count for c in cells if c.true == label) for label in view.results.classes]
    if sizes:
        enough = min(sizes) >= FEW_OF_A_CLASS
        yield say("reasons.rarest" if enough else "reasons.rarest_few", n=min(sizes))


def _resamples(view: View) -> Iterator[str]:
    drawn = view.results.options.get("resamples")
    if isinstance(drawn, int):
        yield say("reasons.resamples" if drawn >= FEW_RESAMPLES else "reasons.resamples_few", n=drawn)


def _examples(view: View) -> Iterator[str]:
    yield say("reasons.mean", n=view.results.n)


def _clusters(view: View) -> Iterator[str]:
    """Say how many clusters of equal size they count as; where ids repeat that is the number of examples."""
    found = [r.clusters_effective for r in view.results.metrics if r.slice is None and r.clusters_effective]
    if found:
        enough = found[0] >= FEW_CLUSTERS
        yield say("reasons.groups" if enough else "reasons.groups_few", number=numbers.number(found[0], 1))


def _weights(view: View) -> Iterator[str]:
    found = [r.n_effective for r in view.results.metrics if r.slice is None and r.n_effective]
    if found:
        yield say("reasons.effective", number=numbers.number(found[0], 1))


_LARGE_SAMPLES = _discordant
_NUMBERS: dict[str, Callable[[View], Iterator[str]]] = {
    "placements": _class_sizes,
    "replicates": _resamples,
    "losses": _examples,
    "clusters": _clusters,
    "weights": _weights,
}
"""What the results show of the numbers that a test rests on, by what it needs."""


def _of_cautions(view: View, records: list[ComparisonRecord]) -> Iterator[str]:
    """Yield what stands against the test in this layout (its measured size among it), each once."""
    for record in records:
        for part in joined(record.caution or ""):
            if part and coded(part)[0] not in ABOUT_NO_ASSUMPTION:
                yield text_of(view, part)
