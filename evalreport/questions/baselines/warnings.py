"""The warning that a model may be no better than always predicting the most frequent class."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.questions.baselines.records import BaselineLists
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check


@check("not_better_than_majority", needs=("labels", "share_of_right"), of_models=True)
def majority(sample: Sample, baselines: BaselineLists) -> Iterator[WarningRecord]:
    """Warn of models whose share of right answers may be that of the most frequent class.

    The majority class decides what a share of right answers is worth, and no other metric.
    """
    primary = sample.quantities[0]
    for pair in baselines.against_rule:
        about_this = pair.model in sample.label_models and Quantity.of(pair) == primary
        if about_this and pair.rule == "majority_class" and pair.verdict != "better":
            yield warning(
                "not_better_than_majority", about=(pair.model,),
                model=pair.model, name=pair.answer, share=pair.value,
            )  # fmt: skip
