"""The page of all audits, with a control chart for each model (``evalreport history site``)."""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Literal, cast
from urllib.parse import quote

from msgspec import Meta, Struct

from evalreport import numbers
from evalreport.audit.sequential_test import promise
from evalreport.errors import InputError, OutputError, UsageError
from evalreport.files import write_whole
from evalreport.gates.outcomes import parse
from evalreport.history.connection import History
from evalreport.history.store import Run, Standing, acceptances, noted, results_of, runs, standing, time_of
from evalreport.metrics.quantities import parse as parse_metric
from evalreport.metrics.registry import definition
from evalreport.options import Task
from evalreport.plots.control import Look, control
from evalreport.plots.pictures import Figure, drawn
from evalreport.plots.style import inline
from evalreport.report.brand import brand_of, check_templates, with_colours
from evalreport.report.page import unique_ids
from evalreport.report.stylesheets import font_faces, policy_of
from evalreport.report.template_process import Documents, made_within_limits
from evalreport.report.templates import environment, rendered, source
from evalreport.report.translations import catalogue_of
from evalreport.schema.audit import ALARMS
from evalreport.schema.inputs import JsonObject
from evalreport.schema.recorded import decoded
from evalreport.texts import group_of, say, speaking
from evalreport.texts.visible import visible
from evalreport.version import __version__

STANDARD_ERRORS = 3.0
PAGE = "index.html"
GATES = {1: ("gate_failed", "caution"), 3: ("undecided", "undecided")}
"""Word and tone of the exit codes of gates that did not pass."""
STATES = {
    "bad": ("alarm", "caution"),
    "undecided": ("look", "undecided"),
    "good": ("passed", "better"),
    "neutral": ("none", ""),
}
"""Word and tone of a run that exited otherwise, by the tone of its first sentence; no word where nothing was asked."""
DEPTH = 3
"""Levels of subfolders that are searched for a results.json."""


@dataclass(frozen=True, slots=True)
class Track:
    """One model's values in all audits; ``other`` counts audits with another primary metric."""

    model: str
    looks: tuple[Look, ...]
    other: int


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit as a line of the table.

    Attributes
    ----------
    gates
        Outcome and text of every gate that did not pass.
    alarms
        The alarms of the audit, in words.
    digest
        SHA-256 of its results.json.
    link
        Address and words of the link to its report.
    """

    run: Run
    accepted: bool
    last: bool
    gates: tuple[tuple[str, str], ...]
    alarms: tuple[str, ...]
    digest: str
    link: tuple[str, str]


Link = Callable[[int, str, bytes], tuple[str, str]]
"""Returns the link of a run by its number, and the digest and the bytes of its results.json."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """One series: its audits in the order of time, and every model's track."""

    series: str
    metric: str
    level: float
    audits: tuple[Audit, ...]
    tracks: tuple[Track, ...]


def timelines(
    history: History,
    series: str | None = None,
    *,
    damaged: list[str] | None = None,
    link: Link = lambda _run, _digest, _results: ("", ""),
) -> list[Timeline]:
    """Return every series of a history (or one), by name.

    Parameters
    ----------
    damaged
        Takes a sentence about each part that cannot be read; None: the first one is raised.
    link
        Is given each results.json, so that it is read once.

    Raises
    ------
    UsageError
        There is no run (of that series) that can be read.
    HistoryError, InputError
        The history cannot be read, or is damaged.
    """
    listed = runs(history, series, damaged=damaged)
    names = sorted({run.series for run in listed})
    own = ([run for run in listed if run.series == name] for name in names)
    lines = (_timeline(history, some[0].series, some, damaged, link) for some in own)
    shown = [line for line in lines if line is not None]
    if not shown:
        which = "" if series is None else f" of the series {series!r}"
        more = "".join(f"; {text}" for text in (damaged or ())[:1])
        raise UsageError(
            f"{history.name} holds no run{which}; `evalreport history list` shows the runs{more}"
        )
    return shown


def _timeline(
    history: History, series: str, found: Sequence[Run], damaged: list[str] | None, link: Link
) -> Timeline | None:
    """Return the audits of a series that can be read; None: none can."""
    stands, pinned = Standing(None, (), None), set[int]()
    with noted(damaged):
        stands = standing(history, series)
        pinned = {pin.run_id for pin in acceptances(history, series)}
    own, audits = [], []
    notes: dict[int, _Shown] = {}
    for run in sorted(found, key=lambda run: (run.time, run.id)):
        with noted(damaged):
            data = results_of(history, run.id)
            notes[run.id] = _shown(data, f"{history.name}, run {run.id}")
            digest = hashlib.sha256(data).hexdigest()
            audits.append(_audit(run, notes[run.id], digest, stands, link(run.id, digest, data)))
            own.append(run)
    if not own:
        return None
    newest = own[-1].summary
    metric = str(newest["primary_metric"])
    models = sorted({model for run in own for model in run.summary["values"]})
    level = notes[own[-1].id].options.confidence
    edges = _edges(metric, str(newest.get("task")), notes[own[-1].id].classes)
    tracks = (_track(model, metric, edges, own, notes, pinned) for model in models)
    return Timeline(series, metric, level, tuple(audits), tuple(t for t in tracks if t.looks))


class _Gate(Struct):
    gate: str
    outcome: Literal["pass", "fail", "undecided"]
    text: str


class _Answer(Struct):
    question: str
    about: str
    alarm: bool


class _Warning(Struct):
    code: str
    text: str


class _Options(Struct):
    confidence: Annotated[float, Meta(gt=0, lt=1)] = 0.95


class _Shown(Struct):
    """The parts of a results.json that the page shows, since a year of whole ones would fill the memory."""

    options: _Options
    models: tuple[str, ...]
    classes: tuple[str, ...]
    gates: tuple[_Gate, ...] = ()
    audit: tuple[_Answer, ...] = ()
    warnings: tuple[_Warning, ...] = ()

    @property
    def alarms(self) -> list[_Answer]:
        """The answers that are alarms."""
        return [row for row in self.audit if row.alarm]


def _shown(data: bytes, name: str) -> _Shown:
    """Return the parts of a results.json that the page shows.

    Raises
    ------
    InputError
        A part is missing, or of another type.
    """
    try:
        return decoded(data, _Shown)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the results are damaged: {str(error)[:160]}", file=name) from None


def _audit(run: Run, note: _Shown, digest: str, stands: Standing, link: tuple[str, str]) -> Audit:
    return Audit(
        run=run,
        accepted=run.id in stands.accepted,
        last=stands.last == run.id,
        gates=tuple((g.outcome, f"{g.gate}: {g.text}") for g in note.gates if g.outcome != "pass"),
        alarms=tuple(row.text for row in note.warnings if row.code in ALARMS),
        digest=digest,
        link=link,
    )


def _track(
    model: str,
    metric: str,
    edges: tuple[float, float],
    own: Sequence[Run],
    notes: Mapping[int, _Shown],
    pinned: set[int],
) -> Track:
    """Return one model's values in the runs with the primary metric of the newest run."""
    with_model = [run for run in own if model in run.summary["values"]]
    same = [run for run in with_model if run.summary["primary_metric"] == metric]
    by_id = {run.id: run for run in same}
    looks = []
    for run in same:
        note = notes[run.id]
        # The first run of a series is its own reference.
        reference = by_id.get(run.id if run.accepted_run is None else run.accepted_run)
        centre, lower, upper = _limits(run, reference, model, note.options.confidence)
        outcomes = {g.outcome for g in note.gates if _concerns(g.gate, model, note.models)}
        value, low, high = run.summary["values"][model]
        looks.append(
            Look(
                time=time_of(run),
                value=value,
                low=low,
                high=high,
                centre=centre,
                lower=None if lower is None else max(lower, edges[0]),
                upper=None if upper is None else min(upper, edges[1]),
                accepted=run.id in pinned,
                failed="fail" in outcomes,
                undecided="undecided" in outcomes,
                alarm=any(row.question == "worse" and row.about == model for row in note.alarms),
                data=any(_marks_data(row, model, note.models) for row in note.alarms),
            )
        )
    return Track(model, tuple(looks), len(with_model) - len(same))


def _marks_data(row: _Answer, model: str, models: Sequence[str]) -> bool:
    """Return whether an alarm is about the data of a model: of the whole run, or of its own answers."""
    if row.question in ("worse", "worse_this_run", "slice"):
        return False
    return row.about not in models or row.about == model


def _edges(metric: str, task: str, classes: tuple[str, ...]) -> tuple[float, float]:
    """Return the least and the greatest value that the metric can have."""
    try:
        metric_definition = definition(parse_metric(metric, cast(Task, task), classes))
    except UsageError:
        return -math.inf, math.inf  # a metric of a newer version
    return metric_definition.scale.range_of(task)


def _limits(
    run: Run, reference: Run | None, model: str, level: float
) -> tuple[float | None, float | None, float | None]:
    """Return the accepted value and the limits of this run around it; None: unknown."""
    if reference is None:
        return None, None, None
    c, low, high = reference.summary["values"][model]
    if reference.id == run.id or None in (c, low, high, *run.summary["values"][model]):
        return c, None, None
    value, own_low, own_high = run.summary["values"][model]
    return (c, *limits_around((c, low, high), (value, own_low, own_high), level=level))


def limits_around(
    accepted: tuple[float, float, float], audit: tuple[float, float, float], *, level: float
) -> tuple[float, float]:
    """Return the limits of one audit around the accepted value.

    Parameters
    ----------
    accepted, audit
        Value, low and high of either run, at the confidence level.

    Examples
    --------
    Two runs of standard error 0.01 each: 3 sqrt(2) 0.01 on either side.

    >>> z = 1.959963984540054
    >>> run = (0.9, 0.9 - z * 0.01, 0.9 + z * 0.01)
    >>> [round(x, 6) for x in limits_around(run, run, level=0.95)]
    [0.857574, 0.942426]
    """
    c, low, high = accepted
    value, own_low, own_high = audit
    k = STANDARD_ERRORS / NormalDist().inv_cdf(0.5 + level / 2)
    return c - k * math.hypot(c - low, own_high - value), c + k * math.hypot(high - c, value - own_low)


def _concerns(gate: str, model: str, models: Sequence[str]) -> bool:
    """Return whether a gate is about the model, or about the whole run."""
    try:
        terms = parse(gate, models=models).terms
    except UsageError:
        return True  # a newer version's gate is marked at every model
    return not terms or any(term.model == model for term in terms)


@dataclass(frozen=True, slots=True)
class Site:
    """The written page, the number of audits, of those with a link to their report, and what could not be read."""

    page: Path
    audits: int
    reports: int
    damaged: tuple[str, ...] = ()


def write_site(
    history: History,
    folder: Path,
    *,
    series: str | None = None,
    reports: Path | None = None,
    templates: Path | None = None,
) -> Site:
    """Write the page of all audits into a folder.

    Parameters
    ----------
    folder
        Created if missing; index.html and results/run-ID.json are replaced, other files stay.
    reports
        The folder of the audits' output folders: a run links to the report beside its results.json, which is found by
        its bytes. A run without report links to its results.json, which is written.

    Raises
    ------
    UsageError
        There is no run, or no such folder of templates.
    OutputError
        The folder cannot be written, or a template has an error.
    """
    check_templates(templates)
    damaged: list[str] = []
    try:
        known = {} if reports is None else _reports(reports)

        def link(run: int, digest: str, results: bytes) -> tuple[str, str]:
            report = known.get(digest)
            return _to_report(report, folder) if report else _to_results(run, digest, results, folder)

        lines = timelines(history, series, damaged=damaged, link=link)
        write_whole(folder / PAGE, _page(lines, templates))
    except OSError as error:
        raise OutputError(
            f"cannot write the page into {folder}: {error.strerror or error}; name another folder"
        ) from error
    audits = [audit for line in lines for audit in line.audits]
    return Site(folder / PAGE, len(audits), sum(audit.digest in known for audit in audits), tuple(damaged))


def _page(found: Sequence[Timeline], templates: Path | None) -> bytes:
    """Return the page, made in a limited process if there are templates of the user."""
    if templates is None:
        return site_page(found, templates)
    made = made_within_limits(_ways, (found, templates), [PAGE])[PAGE]
    if isinstance(made, OutputError):
        raise made
    return made


def _ways(found: Sequence[Timeline], templates: Path | None) -> Documents:
    return {PAGE: (partial(site_page, found, templates), bytes)}


def site_page(found: Sequence[Timeline], templates: Path | None) -> bytes:
    """Return the HTML of the page, with a security policy as in a report."""
    with speaking(catalogue_of(templates)):
        page = rendered(environment(templates), "site.html.j2", _context(found, templates))
    return page.encode("utf-8", errors="replace")


def _context(found: Sequence[Timeline], templates: Path | None) -> JsonObject:
    from markupsafe import Markup

    env, brand = environment(templates), brand_of(templates)
    css = with_colours(source(env, "report.css"), brand) + source(env, "site.css")
    style = css + source(env, "brand.css") + font_faces("woff2")
    script = source(env, "report.js")
    return {
        "title": say("site.title"),
        "subtitle": _subtitle(found),
        "series": [_described(place, line) for place, line in enumerate(found)],
        # Our own mark-up: shipped files, and drawings whose texts were escaped.
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "policy": policy_of(style, script),
        "brand": brand,
        "logo": Markup(brand.logo),  # noqa: S704
        "words": group_of("page"),
        "paper": False,
        "own_id": unique_ids(),
        "version": __version__,
    }


def _subtitle(found: Sequence[Timeline]) -> str:
    audits = [audit for line in found for audit in line.audits]
    times = sorted(audit.run.time[:10] for audit in audits)
    facts = [say("site.audits", n=len(audits)), say("report.range", low=times[0], high=times[-1])]
    return " · ".join([say("site.several_series", n=len(found)), *facts] if len(found) > 1 else facts)


def _described(place: int, line: Timeline) -> JsonObject:
    """Return the facts about one series for the template: outcome, charts, and audits, the newest first."""
    from markupsafe import Markup

    newest = line.audits[-1]
    outcome, tone = _state(newest)
    figures = (_figure(place, number, track, line) for number, track in enumerate(line.tracks))
    # Drawn by us: every text in it was escaped when it was written.
    charts = [{"figure": figure, "svg": Markup(inline(drawn(figure)))} for figure in figures]  # noqa: S704
    return {
        "id": f"series-{place}",
        "name": line.series,
        "metric": line.metric,
        "level": numbers.percent(line.level),
        "tone": tone,
        "outcome": say(f"site.outcome.{outcome}"),
        "headline": _headline(newest),
        "facts": [(kind, say(f"site.fact.{kind}"), text) for kind, text in _said(line)],
        "charts": charts,
        "models": [track.model for track in line.tracks],
        "rows": [_row(audit, line) for audit in reversed(line.audits)],
    }


def _headline(newest: Audit) -> str:
    run, first = newest.run, visible(str(newest.run.summary["headline"]))
    return say("site.headline_of", date=run.time[:10], run=run.id, headline=first)


def _said(line: Timeline) -> Iterator[tuple[str, str]]:
    newest = line.audits[-1]
    for outcome, text in newest.gates:
        yield ("gate_failed" if outcome == "fail" else "undecided"), text
    for text in newest.alarms:
        yield "alarm", text
    accepted = sorted((audit.run for audit in line.audits if audit.accepted), key=lambda run: run.id)
    if accepted:
        *others, last = accepted
        accepted_run = {"run": last.id, "date": last.time[:10]}
        together = [str(run.id) for run in others]
        key = "site.accepted_together" if others else "site.accepted"
        yield "accepted", say(key, **accepted_run, others=together)
    yield "promise", say("site.promise", promise=promise(line.level))
    counts = Counter(_state(audit)[0] for audit in line.audits)
    shares = ", ".join(
        f"{count} {say(f'site.outcome.{word}')}" for word, count in counts.most_common() if word != "none"
    )
    yield "audits", f"{len(line.audits)}: {shares}" if shares else str(len(line.audits))


def _state(audit: Audit) -> tuple[str, str]:
    """Return word and tone of an audit: of a gate that did not pass, else of its first sentence."""
    if audit.run.exit_code in GATES:
        return GATES[audit.run.exit_code]
    return STATES.get(audit.run.summary["tone"], STATES["neutral"])


def _row(audit: Audit, line: Timeline) -> JsonObject:
    word, tone = _state(audit)
    values = audit.run.summary["values"]
    same = audit.run.summary["primary_metric"] == line.metric
    marks = [say("site.fact.accepted")] * audit.accepted + [say("site.last_passed")] * audit.last
    return {
        "run": audit.run.id,
        "time": audit.run.time[:16].replace("T", " "),
        "outcome": say(f"site.outcome.{word}"),
        "tone": tone,
        "marks": marks,
        "n": numbers.count(audit.run.summary["n"]),
        "values": [_cell(values.get(track.model)) if same else None for track in line.tracks],
        "said": [text for _, text in audit.gates] + [say("site.alarm", text=text) for text in audit.alarms],
        "href": audit.link[0],
        "link": audit.link[1],
    }


def _cell(values: Sequence[float | None] | None) -> JsonObject | None:
    if values is None or values[0] is None:
        return None
    value, low, high = values
    limits = "" if low is None or high is None else numbers.interval(low, high, 3)
    return {"value": numbers.number(value, 3), "limits": limits, "order": value}


def _figure(place: int, number: int, track: Track, line: Timeline) -> Figure:
    name, key = f"control-{place}-{number}", f"s{place}m{number}"
    looks, model = track.looks, visible(track.model)
    failed = [look for look in looks if look.failed]
    said = [say("site.track", model=model, metric=line.metric, n=len(looks))]
    if failed:
        times = [look.time.date().isoformat() for look in failed[:10]]
        said.append(say("site.failed_at", n=len(failed), times=times))
    caption = say("site.caption", metric=line.metric, level=line.level)
    if track.other:
        caption += f" {say('site.left_out', n=track.other)}"
    title, description = say("site.over_time", model=model, metric=line.metric), ". ".join(said)
    draw = partial(control, looks, index=number, key=key, y_label=line.metric)
    figure = Figure(name=name, title=title, description=description, caption=caption, draw=(draw,))
    return replace(figure, width=9.2, height=3.3)


def _reports(folder: Path) -> dict[str, Path]:
    """Return the reports by the digest of the results.json beside them; of several, the first by name."""
    reports: dict[str, Path] = {}
    patterns = ["/".join(["*"] * depth + ["results.json"]) for depth in range(DEPTH + 1)]
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        report = path.with_name("report.html")
        if report.is_file() and path.is_file():
            reports.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), report)
    return reports


def _to_report(report: Path, folder: Path) -> tuple[str, str]:
    relative = os.path.relpath(report.resolve(), folder.resolve())
    return quote(Path(relative).as_posix()), say("site.report")


def _to_results(run: int, digest: str, results: bytes, folder: Path) -> tuple[str, str]:
    path = folder / "results" / f"run-{run}.json"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        write_whole(path, results)
    return f"results/{path.name}", "results.json"
