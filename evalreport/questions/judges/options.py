"""The option that declares how people chose what they judged."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.keys import option


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The options about an automatic judge."""

    gold_sampled: bool = option(False, "flag", "", "false", group="Input")
