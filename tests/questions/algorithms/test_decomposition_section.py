"""Bias and variance in the report."""

from __future__ import annotations

from tests.samples.algorithm_sections import evaluated, replicated, sections


def test_replicates_give_estimates_and_bias_and_variance() -> None:
    """A row for each estimator, a bar for each model, the most variable examples, and what single fits predict."""
    found = sections(evaluated(replicated(), task="regression"))
    labels = [row.label for row in found["estimates"].main.rows]
    assert labels == [
        "Resubstitution",
        "Bootstrap, optimism (B1)",
        "Bootstrap, out of bag, 31 replicates",
        ".632",
        ".632+",
    ]
    assert [(t.headings, len(t.rows)) for t in found["estimates"].tables] == [(("R", "γ", "ω"), 2)]
    assert "hold-out (scheme" in found["estimates"].missing
    assert [f.name for f in found["decomposition"].figures] == ["decomposition", "replicates"]
    assert found["decomposition"].examples.rows
    assert any("noise" in note for note in found["decomposition"].notes)


def test_the_unbiased_bias_leads_the_table_and_the_bars() -> None:
    """The unbiased pair stands before the plug-in pair, with its interval, and is what the bars are made of."""
    results = evaluated(replicated(), task="regression")
    content = sections(results)["decomposition"]
    ((_, table_of_parts),) = content.tables
    assert table_of_parts.headings[1:5] == (
        "Bias², unbiased",
        "Variance, unbiased",
        "Bias², plug-in",
        "Variance, plug-in",
    )
    for row in table_of_parts.rows:
        (record,) = [r for r in results.decomposition if r.model == row.model.id]
        values = [cell.order for cell in row.cells[1:5]]
        assert values == [record.bias_unbiased, record.variance_unbiased, record.bias, record.variance]
        assert row.cells[1].beside
    (bars,) = [figure for figure in content.figures if figure.name == "decomposition"]
    assert "bias² + noise (unbiased)" in bars.description
