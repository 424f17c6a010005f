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

from evalreport import numbers
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
from evalreport.report.translation import catalogue_of
from evalreport.texts import Message, group_of, say, speaking
from evalreport.version import __version__

PAGE = "index.html"
OUTCOMES = {
    0: ("passed", "better"),
    1: ("gate_failed", "caution"),
    3: ("undecided", "undecided"),
    4: ("passed", "better"),
}
"""The word for an exit code on the page, and its tone; 4: an output was missing, the gates passed."""
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
    with speaking(catalogue_of(templates)):
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
        "title": say("site.title"),
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
    facts = [say("site.audits", n=len(audits)), say("report.range", low=times[0], high=times[-1])]
    return " · ".join([say("site.several_series", n=len(found)), *facts] if len(found) > 1 else facts)


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
        "outcome": say(f"site.outcome.{outcome}"),
        "headline": _headline(newest),
        "facts": _facts(line),
        "charts": charts,
        "models": [track.model for track in line.tracks],
        "rows": [_row(audit, line, links[audit.run.id]) for audit in reversed(line.audits)],
    }


def _headline(newest: Audit) -> str:
    failed = sum(outcome == "fail" for outcome, _ in newest.gates)
    if failed:
        said, n = "failed", failed
    elif newest.gates:
        said, n = "undecided", len(newest.gates)
    else:
        said, n = "passed" if newest.passed else "none", newest.passed
    return say(
        "site.headline",
        date=newest.run.time[:10],
        run=newest.run.id,
        gates=Message(f"site.gates.{said}", n=n),
    )


def _facts(line: Timeline) -> Iterator[tuple[str, str, str]]:
    """Yield kind, word and text of each fact below the headline."""
    for kind, text in _said(line):
        yield kind, say(f"site.fact.{kind}"), text


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
        yield (
            "accepted",
            say("site.accepted_together", **accepted_run, others=[str(run.id) for run in others])
            if others
            else say("site.accepted", **accepted_run),
        )
    yield "promise", say("site.promise", promise=promise(line.level))
    counts = Counter(OUTCOMES.get(audit.run.exit_code, ("failed", ""))[0] for audit in line.audits)
    shares = ", ".join(f"{count} {say(f'site.outcome.{word}')}" for word, count in counts.most_common())
    yield "audits", f"{len(line.audits)}: {shares}"


def _row(audit: Audit, line: Timeline, link: tuple[str, str]) -> dict[str, Any]:
    word, tone = OUTCOMES.get(audit.run.exit_code, ("failed", "caution"))
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
    said = [say("site.track", model=model, metric=track.metric, n=len(looks))]
    if failed:
        times = [look.time.date().isoformat() for look in failed[:10]]
        said.append(say("site.failed_at", n=len(failed), times=times))
    caption = say("site.caption", metric=track.metric, level=level)
    if track.other:
        caption += f" {say('site.left_out', n=track.other)}"
    return Figure(
        name=name,
        title=say("site.over_time", model=model, metric=track.metric),
        description=". ".join(said),
        caption=caption,
        draw=(partial(control, looks, index=number, key=key, y_label=track.metric),),
        width=9.2,
        height=3.3,
    )


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
    return quote(Path(relative).as_posix()), say("site.report")


def _results(history: History, audit: Audit, folder: Path) -> tuple[str, str]:
    path = folder / "results" / f"run-{audit.run.id}.json"
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != audit.digest:
        write_whole(path, results_of(history, audit.run.id))
    return f"results/{path.name}", "results.json"


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
