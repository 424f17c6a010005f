"""The first sentence of a report, decided once from the records and printed everywhere."""

from evalreport.headline.rules import headline, with_headline

__all__ = ["headline", "with_headline"]
