"""What is disturbed: commands that write over an earlier run's files, and what may be left of both afterwards."""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from research.campaign.processes import NOWHERE, ended, evalreport, forked, from_child

TIMES = ("--time", "2026-01-01T00:00:00Z")
QUICK = ("-m", "accuracy", "--resamples", "50", "-f", "html,json,md", "-q")
OTHERS = {"notes.txt": b"mine", "figures/mine.svg": b"mine", "data/rows.csv": b"a,b\n"}
STOPS = (signal.SIGINT, signal.SIGTERM)
PLAN = """\
seed = {seed}
backend = "sequential"
[data]
file = "examples.csv"
target = "y"
[scheme]
name = "kfold"
[[estimator]]
name = "constant"
import = "sklearn.dummy:DummyClassifier"
[estimator.parameters]
strategy = "uniform"
random_state = {seed}
"""

Files = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Scene:
    """One command at work.

    Attributes
    ----------
    before, after
        The files of the earlier and of the later run.
    act
        Writes the later run's files into the folder that it is given.
    again
        What the next run does, where it can be had quicker than by ``act``.
    others
        Files of the user's in the same folder.
    place
        Of the output, below the folder of the try; "." in it stands for being there.
    signals
        What ends the process, where signals do.
    run_before
        Prepares what else an earlier run left, such as a history.
    check
        Says whether that is whole.
    recorded
        How many runs that history holds.
    weight
        How many tries it gets, compared with the others.
    """

    name: str
    before: Files
    after: Files
    act: Callable[[Path], object]
    again: Callable[[Path], object] | None = None
    others: Files = field(default_factory=dict)
    place: str = "out"
    signals: tuple[int, ...] = (signal.SIGKILL,)
    run_before: Callable[[Path], object] = lambda _base: None
    check: Callable[[Path], bool] = lambda _base: True
    recorded: Callable[[Path], int] = lambda _base: 0
    weight: int = 1


def prepare(scene: Scene, base: Path) -> None:
    """Make the folder of a try: an earlier run's files, and the user's."""
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir(parents=True)
    place = base / scene.place
    for name, content in {**scene.before, **scene.others}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    scene.run_before(base)


def perform(
    scene: Scene, base: Path, first: Callable[[], None] = lambda: None, *, again: bool = False
) -> int:
    """Act, after a first thing is done in the same process; return the exit code."""
    place = base / scene.place
    if scene.place.endswith("/."):
        os.chdir(place)
        place = Path()
    first()
    act = scene.again if again and scene.again is not None else scene.act
    result = act(place)
    return result if isinstance(result, int) else 0


def judged(
    scene: Scene, base: Path, *, relieve: Callable[[], object] = lambda: None, gone: bool = False
) -> set[str]:
    """Say what stands in the folder: at once, after ``recover``, and after another run.

    Parameters
    ----------
    relieve
        Ends the trouble before the next command comes.
    gone
        Whether the trouble removes files itself: then none of either run may be left as well.
    """
    from evalreport.files import recover

    place = base / scene.place
    at_once = found_in(scene, place)
    allowed = [dict(scene.before), dict(scene.after), *([{}] if gone else [])]
    if at_once in allowed:
        found = {("old", "new", "gone")[allowed.index(at_once)]}
    else:
        parts = any(at_once.items() <= files.items() for files in allowed)
        found = {"partial"} if parts else {"mixed"}
    relieve()
    recover(place)
    if found_in(scene, place) not in allowed:
        found.add("broken")
    if not kept(scene, place) or not scene.check(base):
        found.add("lost")
    again = ended(forked(partial(perform, scene, base, again=True), said=NOWHERE))
    if again not in (0, 1) or found_in(scene, place) != dict(scene.after) or temporary_in(base):
        found.add("stuck")
    if not kept(scene, place) or not scene.check(base):
        found.add("lost")
    return found


def found_in(scene: Scene, place: Path) -> dict[str, bytes]:
    """Return the files of either run that stand in the folder, whatever is in them."""
    names = (scene.before.keys() | scene.after.keys()) - scene.others.keys()
    return {name: (place / name).read_bytes() for name in names if (place / name).is_file()}


def kept(scene: Scene, place: Path) -> bool:
    """Say whether the user's files are as they were."""
    return all(
        (place / name).is_file() and (place / name).read_bytes() == content
        for name, content in scene.others.items()
    )


def temporary_in(base: Path) -> list[Path]:
    """Return what is left of files and folders that are there for the time of a command."""
    signs = ("evalreport-", ".fits")
    return [p for p in base.rglob("*") if p.name.startswith(".") and any(sign in p.name for sign in signs)]


def is_true(said: str, scene: Scene, at_once: Files, base: Path) -> bool:
    """Say whether the last line of an interrupted command agrees with what stands there."""
    first, *rest = (said.splitlines() or [""])[-1].split("; ")
    is_old, is_new = at_once == dict(scene.before), at_once == dict(scene.after)
    if first != "interrupted":
        return False
    for part in rest:
        right = {
            "nothing was written": is_old and not temporary_in(base),
            "no report was written and no run recorded": is_old and scene.recorded(base) == 1,
            "the run is recorded": is_new and scene.recorded(base) == 2,
            "`evalreport history list` says whether this run was recorded": is_new,
            "what was finished is kept, and the same command goes on from there": is_old,
        }
        if not right.get(part, is_new and part.startswith(("the report had", "the predictions had"))):
            return False
    return bool(rest) or is_old


# --- scenes ---------------------------------------------------------------------------------------------------------


def scenes(work: Path) -> list[Scene]:
    """Make the scenes, with what they need in a folder; the modules that they load are loaded afterwards."""
    models = [write_models(work / f"models-{name}", seed) for seed, name in enumerate("ab")]
    plans = [write_plan(work, seed) for seed in (0, 1)]
    warm_up(work, models[0], plans[0])
    return [
        *_report_scenes(work, models),
        *_moving_scenes(),
        *program_scenes(work, models),
        *resample_scenes(work, plans),
    ]


def warm_up(work: Path, models: Path, plan: Path) -> None:
    """Load here, once for all tries, what a run loads in a process of its own."""
    for name in from_child(partial(_modules, work, models, plan)):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def write_models(folder: Path, seed: int) -> Path:
    """Write predictions of two models on 60 examples."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 60)
    folder.mkdir(parents=True)
    for model, wrong in (("forest", 0.1), ("tree", 0.3)):
        said = np.where(rng.random(60) < wrong, 1 - truth, truth)
        rows = "".join(f"e{i:02},{t},{s}\n" for i, (t, s) in enumerate(zip(truth, said, strict=True)))
        (folder / f"{model}.csv").write_text("id,y_true,y_pred\n" + rows)
    return folder


def _grown(folder: Path, first: Path, further: Path) -> Path:
    """Write the examples of both folders, those of the second under other ids: what a second look is about."""
    folder.mkdir()
    for path in sorted(first.iterdir()):
        _, *rows = (further / path.name).read_text().splitlines(keepends=True)
        (folder / path.name).write_text(path.read_text() + "".join(f"new-{row}" for row in rows))
    return folder


def write_plan(work: Path, seed: int) -> Path:
    """Write a plan of five quick fits, and its 20 examples."""
    rows = "".join(f"{i},{i * 7 % 5},{i % 2}\n" for i in range(20))
    (work / "examples.csv").write_text("id,x,y\n" + rows)
    plan = work / f"plan-{seed}.toml"
    plan.write_text(PLAN.format(seed=seed))
    return plan


def _modules(work: Path, models: Path, plan: Path) -> list[str]:
    url = f"sqlite:///{work / 'warm.db'}"
    evalreport("audit", models, "-o", work / "warm", "--history", url, *QUICK)
    evalreport("resample", plan, "-o", work / "warm-fits", "-q")
    return [name for name in sys.modules if name != "__main__" and not name.startswith("research")]


def _made(models: Path) -> tuple[Any, dict[str, bytes]]:
    """Return the results of a run, and the files that are made of them."""
    import evalreport as er
    from evalreport.options import OutputOptions
    from evalreport.report import writing
    from evalreport.schema.results import to_json

    results = er.evaluate(models, metrics="accuracy", resamples=50)
    options = OutputOptions(formats=("html", "json", "md"))
    files, _ = writing._made(results, options, to_json(results))
    return results, files


def _report_scenes(work: Path, models: Sequence[Path]) -> list[Scene]:
    """The writing of a report, its files made before: all the time goes to the steps in question."""
    (_, old), (results, new) = (from_child(partial(_made, folder)) for folder in models)

    def act(place: Path, *, beside: Files | None = None, files: Files = new) -> None:
        _render(results, place, files, beside or {})

    gates_old, gates_new = {**old, "gates.xml": b"<old/>"}, {"gates.xml": b"<new/>"}
    lean = {"results.json": new["results.json"]}
    linked = work / "linked"
    return [
        Scene("writing", old, new, act, weight=4),
        Scene("writing, the first time", {}, new, act),
        Scene("writing beside files of the user's", old, new, act, others=OTHERS, weight=4),
        Scene("writing into the current folder", old, new, act, place="out/.", weight=2),
        Scene("writing through a link", old, new, act, run_before=lambda base: _link(base, linked)),
        Scene(
            "writing with gates",
            gates_old,
            {**new, **gates_new},
            lambda p: act(p, beside=gates_new),
            weight=2,
        ),
        Scene("writing fewer formats", old, lean, lambda place: act(place, files=lean)),
    ]


def _render(results: Any, place: Path, files: Files, beside: Files) -> None:
    from evalreport.report import writing

    writing._made = lambda *_arguments: (dict(files), {})
    writing.render(results, place, beside=beside)


def _link(base: Path, linked: Path) -> None:
    """Put the folder elsewhere and a link in its place."""
    shutil.rmtree(linked, ignore_errors=True)
    (base / "out").rename(linked)
    (base / "out").symlink_to(linked)


def _moving_scenes() -> list[Scene]:
    """The writing of predictions, made before."""
    from evalreport.refit import resampling

    sides = [
        {
            "predictions.parquet": side * 50_000,
            "resample.json": side * 500,
            **({"failures.md": side} if side == b"A" else {}),
        }
        for side in (b"A", b"B")
    ]
    old, new = sides

    def act(place: Path) -> None:
        resampling._publish({place / name: new.get(name) for name in old}, lambda: None)

    beside = "writing predictions beside files of the user's"
    return [
        Scene("writing predictions", old, new, act, weight=2),
        Scene(beside, old, new, act, others={"plan.toml": b"[scheme]"}, weight=2),
    ]


def program_scenes(work: Path, models: Sequence[Path]) -> list[Scene]:
    """`run` and `audit`, from reading the files to the exit code."""

    def run(place: Path, number: int = 1) -> int:
        return evalreport("run", models[number], "-o", place, *QUICK)

    def with_pdf(place: Path, number: int = 1) -> int:
        return evalreport("run", models[number], "-o", place, *QUICK[:-3], "-f", "html,json,pdf", "-q")

    def audit(place: Path, number: int = 1) -> int:
        url = f"sqlite:///{place.parent / 'audits.db'}"
        return evalreport("audit", models[number], "-o", place, "--history", url, *TIMES, *QUICK)

    looked_at = (models[0], _grown(work / "models-grown", *models))

    def look(place: Path, number: int = 1) -> int:
        words = ("--looks", "5", "--looks-file", place.parent / "looks.json")
        return evalreport("run", looked_at[number], "-o", place, *words, *QUICK)

    def earlier(name: str, base: Path) -> None:
        shutil.rmtree(base)
        shutil.copytree(work / name, base)

    def twice(base: Path) -> None:
        place = base / "exported"
        shutil.copytree(second, base, dirs_exist_ok=True)
        shutil.rmtree(place)
        place.mkdir()
        (place / "runs.jsonl").write_bytes(b"old")

    old, new = (_files_of(partial(run, work / f"run-{n}", n), work / f"run-{n}") for n in (0, 1))
    old_pdf, new_pdf = (_files_of(partial(with_pdf, work / f"pdf-{n}", n), work / f"pdf-{n}") for n in (0, 1))
    first, second = work / "audited", work / "audited-twice"
    first.mkdir()
    before = _files_of(lambda: audit(first / "out", 0), first / "out")
    shutil.copytree(first, second)
    after = _files_of(lambda: audit(second / "out"), second / "out")
    (work / "looked").mkdir()
    before_look = _files_of(lambda: look(work / "looked" / "out", 0), work / "looked" / "out")
    shutil.copytree(work / "looked", work / "looked-twice")
    after_look = _files_of(lambda: look(work / "looked-twice" / "out"), work / "looked-twice" / "out")
    # The next run's files are known: only their writing is of interest.
    results = from_child(lambda: _made(models[1])[0])
    again = partial(_render, results, files=new, beside={})
    beside = "run, interrupted, beside files of the user's"

    def export(place: Path) -> int:
        url = f"sqlite:///{place.parent / 'audits.db'}"
        return evalreport("history", "export", "--history", url, "-o", place / "runs.jsonl")

    exported = _files_of(lambda: export(second / "exported"), second / "exported")
    audits = Scene(
        "audit", before, after, audit,
        run_before=partial(earlier, "audited"), check=_history_is_whole, recorded=_runs_in, weight=2,
    )  # fmt: skip
    looks = Scene(
        "run with looks", before_look, after_look, look,
        run_before=partial(earlier, "looked"), check=partial(_looks_are_whole, new=after_look), weight=2,
    )  # fmt: skip
    return [
        looks,
        replace(looks, name="run with looks, interrupted", signals=STOPS, weight=1),
        Scene("run", old, new, run, again),
        Scene("run beside files of the user's", old, new, run, again, others=OTHERS),
        Scene("run with a PDF, interrupted", old_pdf, new_pdf, with_pdf, signals=(*STOPS, signal.SIGKILL)),
        Scene("run, interrupted", old, new, run, again, signals=STOPS),
        Scene(beside, old, new, run, again, others=OTHERS, signals=STOPS),
        audits,
        replace(audits, name="audit, interrupted", signals=STOPS, weight=1),
        Scene("history export", {"runs.jsonl": b"old"}, exported, export, run_before=twice, place="exported"),
    ]


def resample_scenes(work: Path, plans: Sequence[Path]) -> list[Scene]:
    """`resample`, from the plan to the predictions."""

    def act(place: Path, number: int = 1) -> int:
        return evalreport("resample", plans[number], "-o", place, "-q")

    old, new = (_files_of(partial(act, work / f"fits-{n}", n), work / f"fits-{n}") for n in (0, 1))
    others = {"plan.toml": b"[scheme]"}
    return [
        Scene("resample", old, new, act),
        Scene("resample beside files of the user's", old, new, act, others=others),
        Scene("resample, interrupted", old, new, act, signals=STOPS),
    ]


def _files_of(action: Callable[[], int], place: Path) -> dict[str, bytes]:
    if ended(forked(action, said=NOWHERE)):
        raise RuntimeError(f"the run into {place} failed")
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def _history_is_whole(base: Path) -> bool:
    """Whether the history holds run 1, or runs 1 and 2, each with its results and its predictions."""

    def look() -> bool:
        from evalreport.history.connection import open_history
        from research.campaign.histories import whole

        return whole(open_history(f"sqlite:///{base / 'audits.db'}")) in ([1], [1, 2])

    try:
        return bool(from_child(look))
    except RuntimeError:
        return False


def _looks_are_whole(base: Path, new: Files) -> bool:
    """Whether the file holds look 1, or looks 1 and 2: both where the report of the second stands."""

    def count() -> int:
        from evalreport.looks.series import series_of

        return len(series_of((base / "looks.json").read_bytes(), "looks.json").taken)

    try:
        found = int(from_child(count))
    except RuntimeError:
        return False
    report = base / "out" / "results.json"
    second = report.is_file() and report.read_bytes() == new["results.json"]
    return found == 2 if second else found in (1, 2)


def _runs_in(base: Path) -> int:
    def count() -> int:
        from evalreport.history.connection import open_history
        from evalreport.history.store import runs

        return len(runs(open_history(f"sqlite:///{base / 'audits.db'}")))

    return int(from_child(count))
