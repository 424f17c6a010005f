"""The first sentence of a report, decided once from the records and printed everywhere."""

from evalreport.headline.degenerate import all_inverted, inverted_models
from evalreport.headline.lead import rarest_class
from evalreport.headline.rules import headline, with_headline
from evalreport.headline.scores import headline_of_scores

__all__ = [
    "all_inverted",
    "headline",
    "headline_of_scores",
    "inverted_models",
    "rarest_class",
    "with_headline",
]
