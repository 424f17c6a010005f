"""Examples of which only sums of scores are known."""

from __future__ import annotations

from evalreport.samplings.examples import Examples


class Sums(Examples):
    """Examples are drawn one by one, and only sums over them are known: the influence values summarise theirs."""

    only_sums = True
