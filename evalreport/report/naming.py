"""What things are called in the report: entries of registries by their words, names from files made safe to show."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

from evalreport.comparisons import TESTS
from evalreport.intervals import INTERVALS
from evalreport.metrics import METRICS
from evalreport.numbers import count, level, percent
from evalreport.schema.lookups import tested_pairs
from evalreport.schema.metrics import Quantity
from evalreport.texts import named, say, spoken
from evalreport.texts.visible import visible

if TYPE_CHECKING:
    from evalreport.schema.results import Results


Kind = Literal["metric", "interval", "test"]
REGISTRIES: Mapping[Kind, Mapping[str, Any]] = {"metric": METRICS, "interval": INTERVALS, "test": TESTS}


def entry(kind: Kind, name: str) -> Any | None:
    """Return one registered entry, or None: results of a newer version may name what this one does not know."""
    known = REGISTRIES[kind]
    return known[name] if name in known else None  # noqa: SIM401 - a registry answers an unknown name with a message


def display_of(kind: Kind, name: str) -> Any | None:
    """Return the record that holds the label and the summary of an entry, or None where it is not known."""
    known = entry(kind, name)
    return known.display if known is not None and kind == "metric" else known


def label_of(kind: Kind, name: str | None) -> str:
    """Return the words for a metric, an interval or a test."""
    if name is None:
        return ""
    known = display_of(kind, name)
    if known is None:
        return visible(name.replace("_", " "))
    return spoken(f"label.{kind}.{name}", str(known.label))


def test_in_words(name: str) -> str:
    """Name a test within a sentence: ``McNemar’s mid-p test``."""
    return named("test_in_words", name, say("test_in_words.other", label=label_of("test", name)))


def why_it_leads(test: str, metric: str, otherwise: str = "") -> str:
    """Say why a test leads on a metric; the t test of a function of squared errors is about these."""
    known = entry("metric", metric)
    squares = test == "paired_t" and known is not None and known.from_squares not in (None, float)
    return named("reasons.why", f"{test}_of_squares" if squares else test, otherwise)


def summary_of(kind: Kind, name: str) -> str:
    """Return the sentence that says what a metric, an interval or a test is; nothing where it is not known."""
    known = display_of(kind, name)
    return "" if known is None else spoken(f"summary.{kind}.{name}", str(known.summary))


PAGE = re.compile(r" \((docs/[\w.-]+)\)")
"""The page that says how often a method of our own holds, in its source; all others are published."""
OF_OUR_OWN = ("; our own combination", ", our own combination", ", chosen by simulation")
"""Parts of a source that say no more than that the method is our own."""


def origin_of(source: str) -> tuple[str, str]:
    """Say whether an interval or a test is published or our own and measured, and by which source.

    A source that names a page of the documentation is our own: the page says how often the method holds.

    Examples
    --------
    >>> origin_of("Wilson (1927)")
    ('Published', 'Wilson (1927)')
    >>> origin_of("Student's t; our own combination, chosen by simulation (docs/sums.md)")
    ('Own, measured (docs/sums.md)', "Student's t")
    """
    page = PAGE.search(source)
    if page is None:
        return say("methods.published"), source
    for repeated in (page[0], *OF_OUR_OWN):
        source = source.replace(repeated, "")
    return say("methods.own", page=page[1]), source


def registered_texts() -> dict[str, str]:
    """Return what the registries say of their entries, by the keys under which a translation overrides it."""
    every = [
        (f"{kind}.{name}", display_of(kind, name)) for kind, known in REGISTRIES.items() for name in known
    ]
    return {f"{of}.{key}": str(getattr(entry, of)) for key, entry in every for of in ("label", "summary")}


def metric_label(key: Quantity) -> str:
    """Return the words for a metric with its average or class: ``F1 (macro)``, ``Recall, class 3``."""
    text = label_of("metric", key.metric) + (f" ({key.average})" if key.average else "")
    return text + (f", class {visible(key.label)}" if key.label is not None else "")


def family_words(results: Results) -> str:
    """Say how the tested pairs were corrected."""
    n, correction, confidence = _family(results)
    alpha = f"{1 - confidence:.4g}" if results.looks is None else level(1 - confidence)
    if n < 2:
        return say("verdict.family", alpha=alpha)
    if correction == "none":
        return say("verdict.family_unadjusted", alpha=alpha)
    key = "family_adjusted" if n == len(results.verdicts) else "family_adjusted_tested"
    return say(f"verdict.{key}", correction=named("correction", correction), n=n, alpha=alpha)


def level_of_pairs(results: Results) -> str:
    """Say for which of the pairs the intervals of the differences hold together."""
    n, correction, confidence = _family(results)
    held = percent(confidence)
    if n < 2:
        return say("verdict.level" if results.looks is None else "verdict.level_of_look", level=held)
    together = "level_all" if n == len(results.verdicts) else "level_tested"
    key = {"none": "level_each", "bh": "level_decided"}.get(correction, together)
    return say(f"verdict.{key}", level=held, n=n)


def _family(results: Results) -> tuple[int, str, float]:
    """Return how many pairs are tested on the primary metric, by which correction, and the confidence."""
    n = len(tested_pairs(results.comparisons, results.primary_metric or ""))
    return n, str(results.options.get("correction", "none")), results.deciding_level


def count_range(counts: Collection[float]) -> str:
    """Write the least and the largest of some counts; one where they are the same."""
    low, high = count(min(counts)), count(max(counts))
    return low if low == high else say("report.range", low=low, high=high)


def listed(names: list[str], limit: int = 6) -> str:
    """Join names as a sentence does: ``a, b and c``; of many, the first and how many more."""
    if len(names) > limit:
        return say("list.more", names=", ".join(names[:limit]), n=len(names) - limit)
    if len(names) < 2:
        return "".join(names)
    return say("list.and", names=", ".join(names[:-1]), last=names[-1])
