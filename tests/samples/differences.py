"""Results with sizes of differences, agreement and disagreements, under hostile names."""

from __future__ import annotations

import dataclasses

from evalreport.questions.baselines.records import BaselineRecord
from evalreport.schema.comparisons import AgreementRecord, DisagreementRecord, EffectRecord
from evalreport.schema.results import Results

TWO = {"forest": 1.8, "tree": 0.6}

BAD = "<script>alert('x')</script>\u202e{{ 7 * 7 }}"


def with_differences(results: Results) -> Results:
    """Add sizes, agreement, disagreements and baselines of the two models."""
    a, b = results.models
    return dataclasses.replace(
        results,
        effects=(
            EffectRecord(
                a=a,
                b=b,
                metric="accuracy",
                effect="odds_ratio_discordant",
                value=2.5,
                low=1.2,
                text="25 : 10",
                high=None,
            ),
            EffectRecord(
                a=a,
                b=b,
                metric="error_rate",
                effect="misses_per_1000",
                value=-12.34,
                low=-20.0,
                high=-4.0,
                text="12 fewer misses",
            ),
        ),
        agreement=(
            AgreementRecord(a=a, b=b, metric="accuracy", both=900.0, only_a=25.0, only_b=10.0, neither=265.0),
        ),
        disagreements=(
            DisagreementRecord(
                id=BAD,
                truth="Yes",
                model=a,
                answer="Yes",
                correct=True,
                spread=1.0,
                measure="pairs of models that disagree",
            ),
            DisagreementRecord(
                id=BAD,
                truth="Yes",
                model=b,
                answer="No" + BAD,
                correct=False,
                spread=1.0,
                measure="pairs of models that disagree",
            ),
        ),
        baselines=(
            BaselineRecord(
                name="majority_class",
                metric="accuracy",
                average=None,
                label=None,
                value=0.65,
                text="always answers No",
            ),
        ),
    )
