"""What things are called in the report: metrics, intervals and tests by the words of their registries."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalreport.numbers import percent
from evalreport.report.characters import visible
from evalreport.texts import named, say, spoken

if TYPE_CHECKING:
    from evalreport.results import Results  # which shows itself in a notebook by this package


KINDS = {
    "metric": ("metrics", "METRICS"),
    "interval": ("intervals", "INTERVALS"),
    "test": ("comparisons", "TESTS"),
}
"""What is registered: the package and the registry there."""


@dataclass(frozen=True, slots=True)
class MetricKey:
    """Which number: the metric, how it is averaged over classes, or whose class's own value it is."""

    metric: str
    average: str | None = None
    label: str | None = None


def registry(kind: str) -> Mapping[str, Any]:
    """Give the registered metrics, intervals or tests by name."""
    package, name = KINDS[kind]
    entries: Mapping[str, Any] = getattr(importlib.import_module(f"evalreport.{package}"), name, {})
    return entries


def entry(kind: str, name: str) -> Any | None:
    """Give one registered entry, or None: results of a newer version may name what this one does not know."""
    known = registry(kind)
    if name not in known:  # not get(): a registry answers an unknown name with a message
        return None
    return known[name]


def label_of(kind: str, name: str | None) -> str:
    """Give the words for a metric, an interval or a test."""
    if name is None:
        return ""
    known = entry(kind, name)
    if known is None:
        return visible(name.replace("_", " "))
    return spoken(f"label.{kind}.{name}", str(known.label))


def test_in_words(name: str) -> str:
    """Name a test within a sentence: ``McNemar’s mid-p test``."""
    return named("test_in_words", name, say("test_in_words.other", label=label_of("test", name)))


def summary_of(kind: str, name: str) -> str:
    """Give the sentence that says what a metric, an interval or a test is; nothing where it is not known."""
    known = entry(kind, name)
    return "" if known is None else spoken(f"summary.{kind}.{name}", str(known.summary))


def registered_texts() -> dict[str, str]:
    """Give what the registries say of their entries, by the keys under which a translation overrides it."""
    found = {}
    for kind in KINDS:
        for name, known in registry(kind).items():
            found[f"label.{kind}.{name}"] = str(known.label)
            found[f"summary.{kind}.{name}"] = str(known.summary)
    return found


def metric_label(key: MetricKey) -> str:
    """Give the words for a metric with its average or class: ``F1 (macro)``, ``Recall, class 3``."""
    text = label_of("metric", key.metric)
    if key.average:
        text += f" ({key.average})"
    if key.label is not None:
        text += f", class {visible(key.label)}"
    return text


def in_sentence(label: str) -> str:
    """Give a label for the middle of a sentence: ``Accuracy`` becomes ``accuracy``, ``ROC AUC`` stays."""
    first = label.split(" ")[0].split("-")[0]
    ordinary = len(first) > 1 and first[1:].islower() and first not in {"Brier", "Cohen", "Matthews"}
    return label[0].lower() + label[1:] if ordinary else label


def family_words(correction: str, n_pairs: int, alpha: str) -> str:
    """Say how the pairs were corrected."""
    if n_pairs < 2:
        return say("verdict.family", alpha=alpha)
    if correction == "none":
        return say("verdict.family_unadjusted", alpha=alpha)
    by = named("correction", correction)
    return say("verdict.family_adjusted", correction=by, n=n_pairs, alpha=alpha)


def level_of_pairs(results: Results) -> str:
    """Say for which of the pairs the intervals of the differences hold together."""
    n, correction = len(results.verdicts), str(results.options.get("correction", "none"))
    level = percent(float(results.options.get("confidence", 0.95)))
    if n < 2:
        return say("verdict.level", level=level)
    key = {"none": "verdict.level_each", "bh": "verdict.level_decided"}.get(correction, "verdict.level_all")
    return say(key, level=level, n=n)


def greater_is_better(key: MetricKey, lower_is_better: bool = False) -> bool:
    """Say in which direction the metric is better; values of unknown kind go by the run's option."""
    known = entry("metric", key.metric)
    if known is None:
        return True
    if lower_is_better and known.turnable:
        return known.greater_is_better is False
    return known.greater_is_better is not False


def find_key(spelled: str, known: list[MetricKey]) -> MetricKey:
    """Find the number that a spelling such as ``f1_macro`` or ``recall[class=3]`` means.

    A bare name of a metric that is averaged means the first average of its registration.
    """
    by_spelling = {spelling(key): key for key in known}
    if spelled in by_spelling:
        return by_spelling[spelled]
    averaged = [key for key in known if key.metric == spelled and key.label is None]
    return averaged[0] if averaged else MetricKey(spelled)


def spelling(key: MetricKey) -> str:
    """Give the command line's spelling of a metric: ``f1``, ``f1_macro``, ``recall[class=3]``."""
    text = key.metric + (f"_{key.average}" if key.average else "")
    return text + (f"[class={key.label}]" if key.label is not None else "")


def listed(names: list[str], limit: int = 6) -> str:
    """Join names as a sentence does: ``a, b and c``; of many, the first and how many more."""
    if len(names) > limit:
        return say("list.more", names=", ".join(names[:limit]), n=len(names) - limit)
    if len(names) < 2:
        return "".join(names)
    return say("list.and", names=", ".join(names[:-1]), last=names[-1])
