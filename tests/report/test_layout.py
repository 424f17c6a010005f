"""Where the panels of a figure stand."""

from __future__ import annotations

from evalreport.plots.layout import panels


def test_a_row_with_fewer_panels_than_columns_is_laid_out() -> None:
    """Two panels in three columns, as in the last row of five, are as large as those of a full row."""

    def draw(ax: object) -> None:
        ax.plot([0, 1], [0, 1])  # type: ignore[attr-defined]

    full, short = (panels([draw] * n, width=9.0, height=2.0, columns=3) for n in (3, 2))
    sizes = [tuple(round(x, 6) for x in ax.get_position().size) for ax in (*full.axes, *short.axes)]
    assert len(set(sizes)) == 1
