"""The ranks that each model may have, and who may be best."""

from __future__ import annotations

from evalreport.report.sections.leaderboard import confidence_words, rank_words
from evalreport.report.table import Row, Table, Tables, headings
from evalreport.report.view import View
from evalreport.texts import say


def describe(view: View) -> Tables | None:
    """Lay out the possible ranks; nothing where fewer than three models were compared, or only with a baseline."""
    sets = {record.model: record for record in view.results.rank_sets}
    if not sets:
        return None
    sharp = all(record.may_be_best_sharp is not None for record in sets.values())
    rows = []
    for model in view.models:
        record = sets.get(model.id)
        if record is None:
            continue
        cells = [rank_words(record, len(sets)), _word(record.may_be_best)]
        rows.append(Row(model, (*cells, *([_word(bool(record.may_be_best_sharp))] if sharp else ()))))
    heads = ("ranks.ranks", "ranks.may_be_best", *(("ranks.sharp",) if sharp else ()))
    note = say("ranks.note" if sharp else "ranks.note_sets", level=confidence_words(view))
    return Tables((Table(say("ranks.box"), headings(map(say, heads), "text,text,text"), tuple(rows), note),))


def _word(holds: bool) -> str:
    return say("ranks.yes" if holds else "ranks.no")
