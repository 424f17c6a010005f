"""Several attempts at each question: a question is drawn with all of them."""

from __future__ import annotations

from evalreport.samplings.clusters import Clusters


class Attempts(Clusters):
    """Questions are drawn; the attempts at one are no examples of their own, so that CR2 gives the error."""

    knows_examples = False
