"""``evalreport history site``: all audits on one page, static and offline, with a control chart for each model."""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evalreport import __version__, numbers
from evalreport.audit.alarm import promise
from evalreport.audit.connection import History
from evalreport.audit.store import results_of
from evalreport.audit.timeline import Audit, Timeline, Track, timelines
from evalreport.config import TEMPLATE_TIME
from evalreport.errors import OutputError
from evalreport.plots.control import control
from evalreport.plots.svg import inline
from evalreport.publishing import write_whole
from evalreport.report.anchors import with_anchors
from evalreport.report.brand import brand_of, check_templates, with_colours
from evalreport.report.characters import visible
from evalreport.report.figures import Figure, drawn
from evalreport.report.limited import Documents, made_within_limits
from evalreport.report.page import environment, font_faces, rendered, source
from evalreport.report.texts import group_of

PAGE = "index.html"
OUTCOMES = {
    0: ("passed", "better"),
    1: ("gate failed", "caution"),
    3: ("undecided", "undecided"),
    4: ("passed", "better"),
}
"""What an exit code means on the page, and the tone in which it is said; 4: an output was missing, the gates passed."""
DEPTH = 3
"""How deep below the folder of reports a results.json is looked for."""


@dataclass(frozen=True, slots=True)
class Site:
    """What was written: the page, and how many audits link to their report or to their results."""

    page: Path
    audits: int
    reports: int


def write_site(
    history: History,
    folder: Path,
    *,
    series: str | None = None,
    reports: Path | None = None,
    templates: Path | None = None,
    template_time: int = TEMPLATE_TIME,
) -> Site:
    """Write the page of all audits into a folder.

    Parameters
    ----------
    folder
        Made where it does not exist; index.html and results/run-ID.json are replaced, the rest is left alone.
    reports
        Where the audits' output folders lie: a run links to the report beside the results.json that is its own, byte
        for byte. A run without one links to its results.json, which is written.
    template_time
        Seconds of processor time that the user's templates may take.

    Raises
    ------
    UsageError
        There is no run, or no such folder of templates.
    OutputError
        The folder cannot be written, or a template of the user's is wrong.
    """
    check_templates(templates)
    found = timelines(history, series)
    try:
        known = {} if reports is None else _reports(reports)
        links = {}
        for audit in (audit for line in found for audit in line.audits):
            report = known.get(audit.digest)
            links[audit.run.id] = _link(report, folder) if report else _results(history, audit, folder)
        write_whole(folder / PAGE, _page(found, links, templates, template_time))
    except OSError as error:
        raise OutputError(
            f"cannot write the page into {folder}: {error.strerror or error}; name another folder"
        ) from error
    audits = [audit for line in found for audit in line.audits]
    return Site(folder / PAGE, len(audits), sum(audit.digest in known for audit in audits))


def _page(
    found: Sequence[Timeline],
    links: Mapping[int, tuple[str, str]],
    templates: Path | None,
    template_time: int,
) -> bytes:
    """Make the page: here, or where a user's templates may run."""
    if templates is None:
        return _encoded(found, links, templates)
    made = made_within_limits(_ways, (found, links, templates), [PAGE], seconds=template_time)[PAGE]
    if isinstance(made, OutputError):
        raise made
    return made


def _ways(
    found: Sequence[Timeline], links: Mapping[int, tuple[str, str]], templates: Path | None
) -> Documents:
    return {PAGE: (partial(_encoded, found, links, templates),)}


def _encoded(
    found: Sequence[Timeline], links: Mapping[int, tuple[str, str]], templates: Path | None
) -> bytes:
    return site_page(found, links, templates=templates).encode("utf-8", errors="replace")


def site_page(
    found: Sequence[Timeline], links: Mapping[int, tuple[str, str]], *, templates: Path | None = None
) -> str:
    """Return the page; its style and script are in the policy by their digests, as on a report.

    Parameters
    ----------
    links
        Relative address and words of the link of each run.
    """
    from markupsafe import Markup

    env, brand = environment(templates), brand_of(templates)
    css = with_colours(source(env, "report.css"), brand) + source(env, "site.css")
    style = css + source(env, "brand.css") + font_faces("woff2")
    script = source(env, "report.js")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'; "
        "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    context = {
        "title": "Audits over time",
        "subtitle": _subtitle(found),
        "series": [_described(place, line, links) for place, line in enumerate(found)],
        # Our own mark-up: shipped files, and drawings whose texts were escaped.
        "style": Markup(style),  # noqa: S704
        "script": Markup(script),  # noqa: S704
        "policy": policy,
        "brand": brand,
        "logo": Markup(brand.logo),  # noqa: S704
        "words": group_of("page"),
        "version": __version__,
    }
    return with_anchors(rendered(env, "site.html.j2", context))


# --- what is said ---------------------------------------------------------------------------------------------------


def _subtitle(found: Sequence[Timeline]) -> str:
    audits = [audit for line in found for audit in line.audits]
    times = sorted(audit.run.time[:10] for audit in audits)
    names = f"{len(found)} series · " if len(found) > 1 else ""
    return f"{names}{_counted(len(audits), 'audit')} · {times[0]} to {times[-1]}"


def _described(place: int, line: Timeline, links: Mapping[int, tuple[str, str]]) -> dict[str, Any]:
    """Say what stands about one series: where it stands, its charts, its audits with the newest first."""
    from markupsafe import Markup

    newest = line.audits[-1]
    outcome, tone = OUTCOMES.get(newest.run.exit_code, ("failed", "caution"))
    figures = [_figure(place, number, track, line.level) for number, track in enumerate(line.tracks)]
    charts = [
        # Drawn by us: every text in it was escaped when it was written.
        {"figure": figure, "svg": Markup(inline(drawn(figure)))}  # noqa: S704
        for figure in figures
    ]
    return {
        "id": f"series-{place}",
        "name": line.series,
        "metric": line.metric,
        "level": numbers.percent(line.level),
        "tone": tone,
        "outcome": outcome,
        "headline": _headline(newest),
        "facts": _facts(line),
        "charts": charts,
        "models": [track.model for track in line.tracks],
        "rows": [_row(audit, line, links[audit.run.id]) for audit in reversed(line.audits)],
    }


def _headline(newest: Audit) -> str:
    when = f"The last audit, of {newest.run.time[:10]} (run {newest.run.id}),"
    failed = [text for outcome, text in newest.gates if outcome == "fail"]
    if failed:
        return f"{when} failed {_counted(len(failed), 'gate')}"
    if newest.gates:
        return f"{when} left {_counted(len(newest.gates), 'gate')} undecided"
    return f"{when} passed {_counted(newest.passed, 'gate')}" if newest.passed else f"{when} had no gates"


def _facts(line: Timeline) -> Iterator[tuple[str, str]]:
    """Yield word and text of each fact below the headline."""
    newest = line.audits[-1]
    for outcome, text in newest.gates:
        yield ("gate failed" if outcome == "fail" else "undecided"), text
    for text in newest.alarms:
        yield "alarm", text
    accepted = sorted((audit.run for audit in line.audits if audit.accepted), key=lambda run: run.id)
    if accepted:
        *others, last = accepted
        together = f", together with {', '.join(str(run.id) for run in others)}" if others else ""
        yield "accepted", f"run {last.id} of {last.time[:10]}{together}"
    yield "promise", f"an alarm about a model on new examples is {promise(line.level)}"
    counts = Counter(OUTCOMES.get(audit.run.exit_code, ("failed", ""))[0] for audit in line.audits)
    shares = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    yield "audits", f"{len(line.audits)}: {shares}"


def _row(audit: Audit, line: Timeline, link: tuple[str, str]) -> dict[str, Any]:
    word, tone = OUTCOMES.get(audit.run.exit_code, ("failed", "caution"))
    values = audit.run.summary["values"]
    same = audit.run.summary["primary_metric"] == line.metric
    marks = [name for name, holds in (("accepted", audit.accepted), ("last passed", audit.last)) if holds]
    return {
        "run": audit.run.id,
        "time": audit.run.time[:16].replace("T", " "),
        "outcome": word,
        "tone": tone,
        "marks": marks,
        "n": numbers.count(audit.run.summary["n"]),
        "values": [_cell(values.get(track.model)) if same else None for track in line.tracks],
        "said": [text for _, text in audit.gates] + [f"alarm: {text}" for text in audit.alarms],
        "href": link[0],
        "link": link[1],
    }


def _cell(values: Sequence[float | None] | None) -> dict[str, Any] | None:
    if values is None or values[0] is None:
        return None
    value, low, high = values
    limits = "" if low is None or high is None else numbers.interval(low, high, 3)
    return {"value": numbers.number(value, 3), "limits": limits, "order": value}


def _figure(place: int, number: int, track: Track, level: float) -> Figure:
    name, key = f"control-{place}-{number}", f"s{place}m{number}"
    looks, model = track.looks, visible(track.model)
    failed = [look for look in looks if look.failed]
    said = [f"{model}: {track.metric} at {_counted(len(looks), 'audit')}"]
    if failed:
        times = ", ".join(look.time.date().isoformat() for look in failed[:10])
        said.append(f"a gate failed at {len(failed)}: {times}")
    left_out = f" {_counted(track.other, 'audit')} about another metric left out." if track.other else ""
    caption = (
        f"Each dot: {track.metric} at one audit, with its {numbers.percent(level)} interval. Dashed: the accepted run's"
        " value. Shaded: limits of one audit, three standard errors around it, both runs' uncertainty counted: on"
        " average 1 audit in 370 lies outside by chance if nights differ by sampling alone; more do where nights differ"
        " in themselves, or the accepted run was a lucky one."
        f"{left_out}"
    )
    return Figure(
        name=name,
        title=f"{model}: {track.metric} over time",
        description=". ".join(said),
        caption=caption,
        draw=(partial(control, looks, index=number, key=key, y_label=track.metric),),
        width=9.2,
        height=3.3,
    )


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


# --- links and files ------------------------------------------------------------------------------------------------


def _reports(folder: Path) -> dict[str, Path]:
    """Find reports by the digest of the results.json beside them; of several with one digest, the first by name."""
    found: dict[str, Path] = {}
    patterns = ["/".join(["*"] * depth + ["results.json"]) for depth in range(DEPTH + 1)]
    for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
        report = path.with_name("report.html")
        if report.is_file() and path.is_file():
            found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), report)
    return found


def _link(report: Path, folder: Path) -> tuple[str, str]:
    relative = os.path.relpath(report.resolve(), folder.resolve())
    return quote(Path(relative).as_posix()), "report"


def _results(history: History, audit: Audit, folder: Path) -> tuple[str, str]:
    path = folder / "results" / f"run-{audit.run.id}.json"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != audit.digest:
        write_whole(path, results_of(history, audit.run.id))
    return f"results/{path.name}", "results.json"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
