"""What the report of an audit says first."""

from __future__ import annotations

import re

import pytest

from evalreport.history.store import accept
from evalreport.options import OutputOptions
from evalreport.questions.slices import section as slices_section
from evalreport.report.view import view_of
from evalreport.report.writing import render
from tests.samples.audits import audited, right, share
from tests.samples.nights import GOOD, WEEK, answer, nights, series

pytestmark = pytest.mark.usefixtures("undrawn")


def page_of(found, folder):
    """Write the page and the summary; return the page with plain spaces, and the summary."""
    render(found.results, folder, options=OutputOptions(formats=("html", "md")))
    page = (folder / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")
    return page, (folder / "summary.md").read_text(encoding="utf-8")


def rows_of(page, title):
    """Return the cells of the table of a section as texts, row by row."""
    part = page[page.index(f'id="{title}"') :]
    part = part[: part.index("</table>")]
    rows = re.findall(r"<tr.*?</tr>", part, re.DOTALL)
    texts = [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", r, re.DOTALL)]
        for r in rows
    ]
    return [[" ".join(text.split()) for text in cells] for cells in texts]


def test_the_report_says_first_what_is_alarming(history, week, tmp_path):
    """The page and the summary name the alarm; a quiet audit says that nothing is."""
    loud, summary = page_of(nights(week, [0.6] * 3, begin=7), tmp_path / "loud")
    quiet, _ = page_of(series(history, [GOOD], series="quiet"), tmp_path / "quiet")
    assert "Accuracy at every audit: forest fell" in loud
    assert re.search(
        r"^\*\*forest fell: accuracy 0\.600, 0\.904 when accepted \(change −0\.30\d ", summary, re.MULTILINE
    )
    assert "no alarm about forest (accuracy 0.900, 0.900 when accepted, change " in quiet


def test_an_audit_is_one_table_with_one_reference(week, tmp_path):
    """Accepted mean, now, change and verdict are those of the sentence and the alarm; tests are in the appendix."""
    found = nights(week, [0.6] * 3, begin=7)
    page, _ = page_of(found, tmp_path / "page")
    head, model, *data = rows_of(page, "audit")
    assert head == ["Accuracy", "Accepted (mean of 7 runs)", "Now", "Change", "Verdict"]
    row = answer(found, "worse")
    assert row.details["then"] == pytest.approx(sum(WEEK) / 7)
    assert (row.details["change_low"], row.details["change_high"]) == pytest.approx(
        (-0.399, -0.209), abs=0.02
    )
    assert model[1:3] == ["0.904", "0.600"]
    assert model[3].startswith("−0.304 [")
    assert model[4] == "alarm"
    assert data[-1][0] == "Data"
    assert "true labels" in data[-1][1]
    assert page.index('id="audit"') < page.index("How the audit was tested")


@pytest.mark.slow
def test_slices_stand_below_their_model_against_the_same_mean(history, tmp_path):
    """West fell from a mean of 0.95 to 0.60, north did not: the alarm and the row have the mean of the three runs."""

    def run(number, west, north):
        source = right([*share(west, 200), *share(north, 200)], first=1000 * number)
        source["forest"]["region"] = ["west"] * 200 + ["north"] * 200
        return source

    for number, west in enumerate((188, 190, 192)):
        audited(history, run(number, west, 190), slices=("region",))
    accept(history, 1, 2, 3, time="2025-01-04T00:00:00Z")
    found, _, _ = audited(history, run(9, 120, 190), slices=("region",))
    west = answer(found, "slice", "forest, region = west")
    assert (west.details["then"], west.details["now"], west.effect_size) == pytest.approx((0.95, 0.6, -0.35))
    assert west.alarm
    page, _ = page_of(found, tmp_path / "page")
    table = rows_of(page, "audit")
    (row,) = [cells for cells in table if cells[0].startswith("region west")]
    assert row[:3] == ["region west (n = 200)", "0.950", "0.600"]
    assert row[4] == "alarm"
    (north,) = [cells for cells in table if cells[0].startswith("region north")]
    assert north[4] == "no alarm"
    # Against a rest that holds the west the north is better by 0.35, though it is as it was: no word, no colour.
    of_slices = slices_section.describe(view_of(found.results))
    assert of_slices is not None
    ((column,),) = (of_slices.columns,)
    shown = {row.label.value: row.cells[1] for row in column.table.rows}
    assert (shown["west"].beside, shown["west"].look) == ("worse", "cell-worse")
    assert (shown["north"].beside, shown["north"].look) == ("", "")
    assert "fell since the accepted runs" in column.table.note
    assert "better" not in {str(row.cells[-1]) for row in column.details[0].rows}


def test_a_model_that_is_new_has_nothing_to_be_compared_with(history, tmp_path):
    """The accepted run holds forest alone: the row of tree says that it is new."""
    audited(history, right(share(190, 200)))
    accept(history, 1, time="2025-01-04T00:00:00Z")
    both = right(share(190, 200), first=500) | right(share(180, 200), first=500, model="tree")
    found, _, _ = audited(history, both)
    page, _ = page_of(found, tmp_path / "page")
    (row,) = [cells for cells in rows_of(page, "audit") if cells[0].endswith("tree")]
    assert row[-1] == "new: nothing to compare with yet"
