"""Labels inside a sentence and at its start: the one rule for capital letters and proper names."""

from __future__ import annotations

NAMES = frozenset(
    {
        *("Bayesian", "Brier", "Conover", "Friedman", "Jaccard", "Jeffreys", "Matthews", "Murphy"),
        *("Nemenyi", "Newcombe", "Pareto", "Rand", "Tango", "Wilcoxon", "Wilson"),
    }
)
"""First words of labels that are proper names and do not show it, as ``Cohen's`` and ``Hodges-Lehmann`` do."""


def in_sentence(label: str) -> str:
    """Write a label inside a sentence: an ordinary first word begins small, a proper name or abbreviation stays.

    Examples
    --------
    >>> in_sentence("Log loss"), in_sentence("ROC AUC"), in_sentence("R-precision")
    ('log loss', 'ROC AUC', 'R-precision')
    >>> in_sentence("Cohen's kappa"), in_sentence("Brier score"), in_sentence("Hodges-Lehmann")
    ("Cohen's kappa", 'Brier score', 'Hodges-Lehmann')
    """
    first = label.split(" ")[0].rstrip(",.:;")
    parts = first.split("-")
    two_names = len(parts) > 1 and all(part[:1].isupper() for part in parts)
    possessive = first.endswith(("'s", "’s"))
    ordinary = parts[0][1:].islower() and not two_names and not possessive and parts[0] not in NAMES
    return label[0].lower() + label[1:] if ordinary else label


def sentence_start(text: str) -> str:
    """Begin a text with a capital letter, and leave the rest of it.

    Examples
    --------
    >>> sentence_start("mean of all folds"), sentence_start("")
    ('Mean of all folds', '')
    """
    return text[:1].upper() + text[1:]
