"""Labels inside sentences: a proper name keeps its capital, whatever is registered."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evalreport.comparisons import TESTS
from evalreport.intervals import INTERVALS
from evalreport.metrics import METRICS
from evalreport.metrics.curves import CURVES
from evalreport.metrics.metric import Metric
from evalreport.texts.labels import in_sentence

AUTHORS = re.compile(r"([A-Z][a-zA-Z]+)(?:,? (?:and|et al\.?)|,| \(\d{4})")
"""Surnames in a source, as in ``Brier (1950)``, ``Agresti and Coull (1998)`` and ``Jeffreys, in Brown et al.``"""
EPONYMS = {"Student", "Bayesian", "Pareto", "Scott", "Pratt", "Jaccard", "Jeffreys"}
"""Names whose sources say them in another way."""
ORDINARY = {"Accuracy", "Precision", "Recall", "Bootstrap", "Mean", "Log", "Lift", "Normal", "Reliability"}
REGISTERED: dict[str, Any] = {
    f"{kind} {name}": known.display if isinstance(known, Metric) else known
    for kind, registry in (("metric", METRICS), ("test", TESTS), ("interval", INTERVALS), ("curve", CURVES))
    for name, known in registry.items()
}
NAMED = EPONYMS | {name for known in REGISTERED.values() for name in AUTHORS.findall(str(known.source))}


@pytest.mark.parametrize("known", REGISTERED.values(), ids=list(REGISTERED))
def test_a_label_that_begins_with_a_name_keeps_its_capital(known: Any) -> None:
    """Authors are read from the sources: add one who is missing here to NAMES in texts/labels.py."""
    label = str(known.label)
    first = re.split(r"[ ,'’-]", label)[0]
    said = in_sentence(label)
    assert said[1:] == label[1:]
    if first in NAMED - ORDINARY:
        assert said == label
    elif first[1:].islower() and first not in ("McNemar", "DeLong"):
        assert said[0] == label[0].lower()


def test_names_are_read_from_the_sources() -> None:
    """Those whose labels were once written small inside a sentence are among them."""
    assert {"Cohen", "Scott", "Jaccard", "Rand", "Brier", "Matthews", "Wilcoxon", "Newcombe"} <= NAMED
    assert not NAMED & ORDINARY


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Cohen's kappa", "Cohen's kappa"),
        ("Scott’s pi", "Scott’s pi"),
        ("Fowlkes-Mallows index", "Fowlkes-Mallows index"),
        ("Rand index", "Rand index"),
        ("R-precision", "R-precision"),
        ("Precision-recall curve", "precision-recall curve"),
        ("F1 (macro)", "F1 (macro)"),
        ("Recall, class B", "recall, class B"),
        ("pass@k", "pass@k"),
    ],
)
def test_labels_in_a_sentence(label: str, said: str) -> None:
    """Names and abbreviations stay, ordinary words begin small."""
    assert in_sentence(label) == said
