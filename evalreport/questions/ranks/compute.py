"""Tests of all models at once, their average ranks, and each model's possible ranks."""

from __future__ import annotations

from evalreport.questions.question import Run, question
from evalreport.questions.ranks.chosen import chosen_record
from evalreport.questions.ranks.omnibus import average_rank_records, omnibus_records
from evalreport.questions.ranks.rank_sets import rank_set_records
from evalreport.questions.ranks.records import RankLists


@question("ranks", applies=lambda run: len(run.predictions.models) > 1)
def ranks(run: Run) -> RankLists:
    """Test all models at once, bound each model's rank by the decided pairs, and value the one that leads."""
    omnibus = omnibus_records(run.samples, run.pairs.tested, run.options)
    sets = rank_set_records(run.pairs.decisions, run.pairs.family_rows, run.data.deciding)
    return RankLists(
        omnibus=omnibus,
        average_ranks=average_rank_records(run.samples, omnibus, run.pairs.tested, run.options),
        rank_sets=sets,
        chosen=chosen_record(
            run.samples, run.results.ranking, sets, run.pairs.decisions, run.data.primary, run.data.deciding
        ),
    )
