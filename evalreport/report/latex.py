"""The main table and a paragraph on the methods in LaTeX, to be pasted into a paper."""

from __future__ import annotations

import re
import unicodedata

from evalreport.numbers import count, percent
from evalreport.report.naming import label_of, listed
from evalreport.report.sections import leaderboard, methods
from evalreport.report.view import View
from evalreport.schema.lookups import true_counts
from evalreport.texts import in_words, say
from evalreport.texts.labels import in_sentence, sentence_start
from evalreport.texts.visible import visible

SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "—": "---", "’": "'", "‘": "`", "…": r"\dots{}",
    "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "∞": r"$\infty$", "Δ": r"$\Delta$", "δ": r"$\delta$",
    "α": r"$\alpha$", "κ": r"$\kappa$", "ρ": r"$\rho$", "σ": r"$\sigma$", "≤": r"$\le$", "≥": r"$\ge$",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$", "½": r"$\frac{1}{2}$", "\u00a0": "~", "\u202f": r"\,",
}  # fmt: skip
SUPERSCRIPTS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")


def table(view: View) -> str:
    """Return the leaderboard as a ``tabular`` with the rules of booktabs: values, differences, adjusted p-values."""
    board = leaderboard.describe(view)
    if board is None:
        return f"% {_comment(say('paper.no_table'))}\n"
    compared = board.versus
    heads = [say("table.model"), say("summary.heading", metric=board.heading, level=percent(view.confidence))]
    heads += [compared, say("table.adjusted")] if compared else []
    heads += [
        say("summary.heading", metric=text, level=percent(view.confidence)) for text in board.other_headings
    ]
    rows = [
        [
            row.model.name,
            row.value.text,
            *([row.difference, row.p] if compared else []),
            *(cell.text for cell in row.cells),
        ]
        for row in board.rows
    ]
    body = [heads, *rows]
    lines = [f"{' & '.join(map(cell, row))} \\\\" for row in body]
    return "\n".join(
        [
            f"% {_comment(say('page.booktabs'))}",
            f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            "\\toprule",
            lines[0],
            "\\midrule",
            *lines[1:],
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )


def paragraph(view: View) -> str:
    """Return one paragraph: the data, the intervals, how pairs were decided, and the program."""
    results = view.results
    n = len(view.models)
    facts = {"n": n, "number": in_words(n), "examples": count(results.n), "metric": view.primary_words}
    parts = [sentence_start(say("paper.data", **facts))]
    parts += _intervals(view)
    parts += _of_the_data(view)
    parts.append(methods.describe(view).text)
    parts.append(say("paper.program", signature=results.signature))
    return escaped(" ".join(parts)) + "\n"


def _intervals(view: View) -> list[str]:
    """Say by which method each metric of the table has its interval, those by the same method together."""
    shown = leaderboard.key_metrics(view)
    by_method: dict[str, list[str]] = {}
    for key in shown:
        records = (view.record(model.id, key) for model in view.models)
        record = next((r for r in records if r is not None and r.intervals), None)
        if record is not None:
            words = view.primary_words if key == view.primary else in_sentence(view.label(key))
            by_method.setdefault(label_of("interval", record.intervals[0].method), []).append(words)
    level = percent(view.confidence)
    return [
        sentence_start(say("paper.intervals", level=level, metrics=listed(words), method=method))
        for method, words in by_method.items()
    ]


def _of_the_data(view: View) -> list[str]:
    """Say how many examples are events, and what became of missing answers."""
    results, texts = view.results, []
    events = true_counts(results).get(results.positive, 0.0) if results.positive is not None else 0.0
    if events:
        texts.append(say("paper.events", n=count(round(events)), label=visible(str(results.positive))))
    if results.estimand is not None:
        texts.append(sentence_start(f"{results.estimand.missing}."))
    gone = (r for r in results.flow if r.step == "left_out" and r.model is None and r.n)
    texts += [say("paper.left_out", n=r.n, why=say(f"paper.why.{r.reason}")) for r in gone]
    return texts


def cell(text: str) -> str:
    r"""Escape a cell; one that begins with a bracket or an asterisk would be an argument of the row before it.

    Examples
    --------
    >>> cell("[0.90, 0.95]"), cell("a_b & 50 %")
    ('{}[0.90, 0.95]', 'a\\_b \\& 50 \\%')
    """
    text_of_cell = escaped(text)
    return f"{{}}{text_of_cell}" if text_of_cell.startswith(("[", "*")) else text_of_cell


def escaped(text: str) -> str:
    r"""Escape a text for LaTeX.

    Examples
    --------
    >>> print(escaped("C:\\x {1} −0.3×10⁻⁵"))
    C:\textbackslash{}x \{1\} $-$0.3$\times$10$^{-5}$
    """
    shown = " ".join(visible(text).split(" "))
    return "".join(
        _power(part) if SUPERSCRIPTS.fullmatch(part) else "".join(SIGNS.get(c, c) for c in part)
        for part in re.split(f"({SUPERSCRIPTS.pattern})", shown)
    )


def _power(digits: str) -> str:
    return f"$^{{{unicodedata.normalize('NFKC', digits).replace('−', '-')}}}$" if digits else ""


def _comment(text: str) -> str:
    return " ".join(text.split())
