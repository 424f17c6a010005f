"""Random edits of evidence: of results.json, its documents, looks files and criteria.

missed
    an edit changed a figure, a record, a sentence or a state, and `verify` (of a looks file or of criteria the next
    run) took it. Never.
defect
    an error that is none of ours. Never.
found
    `verify` ended with 1 or 2, or the next run was refused.
named
    what nothing can be recomputed from was changed, and it was printed: the versions of libraries, and options that
    have no part in these results, in the command that `verify` prints.
nothing
    the edit changed nothing: the next look is the same in every byte.
"""

from __future__ import annotations

import contextlib
import copy
import csv
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import evalreport as er
from evalreport.errors import EvalreportError
from evalreport.schema.results import to_json
from evalreport.verify import documents, recompute
from research.campaign.records import MEMORY, Part, Row, faults_of, measured

FAULTS = ("missed", "defect")
TRIES = 5_000
ROWS = 120
SHARES = {"results": 60, "looks": 12, "criteria": 8, "page": 14, "other documents": 6}
"""Of a hundred tries."""
MARK_UP = (
    "<script>1</script>", "<h1>ahead</h1>", '<iframe src="x"></iframe>', "<p hidden>", "</main>", "<!-- -->", " ", "9",
)  # fmt: skip

Content = Any


def part(*, seed: int = 1, tries: int = TRIES, folder: Path = MEMORY) -> Part:
    """Make so many edits of each kind by its share, and judge each."""
    made = Part("forging", seed, tries)
    rng = random.Random(seed)  # noqa: S311 - no secret is drawn
    rows = {name: Row(name) for name in SHARES}
    made.rows += rows.values()
    with measured(made), tempfile.TemporaryDirectory(prefix="forging-", dir=folder) as place, remembered():
        scene = Scene(Path(place))
        judges: dict[str, Callable[[random.Random], tuple[str, str]]] = {
            "results": scene.results,
            "looks": scene.looks,
            "criteria": scene.criteria,
            "page": partial(scene.document, "report.html"),
            "other documents": scene.other_document,
        }
        for _ in range(tries):
            (name,) = rng.choices(list(SHARES), list(SHARES.values()))
            rows[name].tries += 1
            outcome, what = judges[name](rng)
            rows[name].counts[outcome] += 1
            if outcome in FAULTS:
                print(f"{name}: {outcome}: {what}"[:300], flush=True)
    made.findings += faults_of(made, FAULTS)
    return made


@contextlib.contextmanager
def remembered() -> Iterator[None]:
    """Compute the same thing once: a recomputation from the same options, a document of the same results."""

    def once(function: Callable[..., Any], key: Callable[..., object]) -> Callable[..., Any]:
        known: dict[object, Any] = {}

        def call(*words: Any, **named: Any) -> Any:
            name = key(*words, **named)
            if name not in known:
                known[name] = function(*words, **named)
            return known[name]

        return call

    def of_evaluation(source: Any, *, options: Any, look_of: Any, primary_of_series: Any, **_: Any) -> object:
        # A look is computed each time: its file may have been changed.
        return object() if look_of is not None else f"{id(source)} {options} {primary_of_series}"

    keys: tuple[tuple[Any, str, Callable[..., object]], ...] = (
        (recompute, "load", lambda source, **named: f"{source} {named}"),
        (recompute, "evaluate", of_evaluation),
        (documents, "documents_of", lambda results, options: (to_json(results), str(options))),
    )
    with contextlib.ExitStack() as stack:
        for module, name, key in keys:
            stack.enter_context(patch.object(module, name, once(getattr(module, name), key)))
        yield


class Scene:
    """A report with its inputs, a series of looks of which the next is to come, and declared criteria."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.models = _write(base / "models", ROWS)
        options: dict[str, Any] = {"metrics": ["accuracy", "roc_auc"], "resamples": 50}
        gates = ["forest.accuracy >= 0.5", "n >= 100"]
        self.report = base / "out"
        results = er.evaluate(self.models, slices=["sex"], gates=gates, **options)
        er.render(results, self.report, formats=["html", "json", "md", "csv", "card"])
        self.true = json.loads((self.report / "results.json").read_text("utf-8"))
        self.command = er.verify(self.report, inputs=self.models).command
        self.looked = base / "looks.json"
        for n in (ROWS - 40, ROWS - 20):
            self._look(n, self.looked)
        shutil.copy(self.looked, base / "next.json")
        self.next_look = to_json(self._look(ROWS, base / "next.json"))
        self.declared = base / "criteria.toml"
        er.declare(
            self.declared, truth=self.models, models=["forest", "logreg"], metrics=["accuracy"], margin=0.1
        )

    def _look(self, n: int, file: Path) -> er.Results:
        place = self.base / f"models-{n}"
        source = place if place.is_dir() else _write(place, n)
        return er.evaluate(source, metrics="accuracy", resamples=50, looks=5, looks_file=str(file))

    def results(self, rng: random.Random) -> tuple[str, str]:
        """Edit results.json; sometimes another version is claimed as well."""
        content = copy.deepcopy(self.true)
        what = edited(content, rng)
        if rng.random() < 0.3:
            version = rng.choice(("0.0.9", "9.9"))
            signature, environment = content.get("signature"), content.get("environment")
            if isinstance(signature, str) and isinstance(environment, dict):
                content["signature"] = signature.replace(str(environment.get("evalreport")), version)
                environment["evalreport"] = version
        place = self.base / "results.json"
        place.write_text(json.dumps(content), encoding="utf-8")
        return self._verified(place, what, named=what.startswith("environment"))

    def _verified(self, place: Path, what: str, *, named: bool = False, **more: Any) -> tuple[str, str]:
        try:
            outcome = er.verify(place, inputs=self.models, **more)
        except EvalreportError:
            return "found", what
        except Exception as error:  # noqa: BLE001 - that there is none is what is looked for
            return "defect", f"{what}: {error!r}"
        if outcome.outcome != "agrees":
            return "found", what
        of_versions = named and any(a != b for a, b in outcome.versions.values())
        of_options = what.startswith("options.") and outcome.command != self.command
        return ("named" if of_versions or of_options else "missed"), what

    def document(self, name: str, rng: random.Random) -> tuple[str, str]:
        """Edit a document in the folder: a letter, a number, a piece that is gone, twice or put in."""
        true = (self.report / name).read_text("utf-8")
        text = true
        while text == true:
            text, what = _edited_text(true, rng)
            text = text if name != "report.html" or _day(text) == _day(true) else true
        (self.report / name).write_text(text, encoding="utf-8")
        try:
            return self._verified(self.report, f"{name}: {what}")
        finally:
            (self.report / name).write_text(true, encoding="utf-8")

    def other_document(self, rng: random.Random) -> tuple[str, str]:
        """Edit the summary, the card or a table."""
        tables = [f"tables/{path.name}" for path in sorted((self.report / "tables").iterdir())]
        return self.document(rng.choice(["summary.md", "card.md", *tables]), rng)

    def looks(self, rng: random.Random) -> tuple[str, str]:
        """Edit a looks file; the next look must be refused, or be the one that it would have been."""
        content = json.loads(self.looked.read_text("utf-8"))
        what = edited(content, rng)
        place = self.base / "forged.json"
        place.write_text(json.dumps(content), encoding="utf-8")
        try:
            taken = self._look(ROWS, place)
        except EvalreportError:
            return "found", what
        except Exception as error:  # noqa: BLE001
            return "defect", f"{what}: {error!r}"
        return ("nothing" if to_json(taken) == self.next_look else "missed"), what

    def criteria(self, rng: random.Random) -> tuple[str, str]:
        """Edit declared criteria; a run that follows them must be refused."""
        true = self.declared.read_text("utf-8")
        head, table = true.split("[criteria]")
        text = true
        while text == true:
            body, what = _edited_text(table, rng)
            text = f"{head}[criteria]{body}"
        place = self.base / "forged.toml"
        place.write_text(text, encoding="utf-8")
        from evalreport.looks.criteria import read_criteria

        try:
            keys = read_criteria(place).keys
        except EvalreportError:
            return "found", what
        except Exception as error:  # noqa: BLE001
            return "defect", f"{what}: {error!r}"
        return ("nothing" if keys == read_criteria(self.declared).keys else "missed"), what


def _write(folder: Path, n: int) -> Path:
    """Write two models, the first clearly better; the first n examples of a longer list."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(7)
    truth, sexes = rng.random(ROWS) < 0.5, rng.integers(0, 2, ROWS)
    for model, lift in (("forest", 0.4), ("logreg", 0.1)):
        p = np.clip(0.5 + lift * np.where(truth, 1, -1) + rng.normal(0, 0.2, ROWS), 0.01, 0.99).round(4)
        with (folder / f"{model}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["id", "y_true", "p_1", "sex"])
            table.writerows((f"e{k:03d}", int(truth[k]), p[k], "fm"[sexes[k]]) for k in range(n))
    return folder


def _day(page: str) -> object:
    return documents.DATE.findall(page)


def _edited_text(text: str, rng: random.Random) -> tuple[str, str]:
    place = rng.randrange(len(text))
    piece = rng.choice(MARK_UP)
    end = place + rng.choice((1, 1, 5, 40))
    made = {
        "put in": text[:place] + piece + text[place:],
        "gone": text[:place] + text[end:],
        "twice": text[:end] + text[place:],
        "another letter": text[:place] + rng.choice("0123456789abXY<>&\"' ") + text[place + 1 :],
    }
    how = rng.choice(list(made))
    return made[how], f"{how} at {place}: {text[place - 10 : end + 10]!r}"


def edited(content: Content, rng: random.Random) -> str:
    """Edit one place of parsed JSON so that it says something else; return the place."""
    while True:
        parent, key, path = _place(content, rng)
        old = parent[key]
        how = rng.choice(("change", "change", "change", "remove", "repeat", "swap", "add"))
        if how == "change" and not isinstance(old, (dict, list)):
            parent[key] = _other(old, rng)
            if not _near(parent[key], old):
                return f"{path}: {old!r} is {parent[key]!r}"
        elif how == "remove" and old not in ([], {}):
            del parent[key]
            return f"{path} is gone"
        elif how == "repeat" and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(old))
            return f"{path} is there twice"
        elif how == "swap" and isinstance(parent, list) and len(parent) > 1:
            other = rng.randrange(len(parent))
            if parent[other] != old:
                parent[key], parent[other] = parent[other], old
                return f"{path} is swapped with {other}"
        elif how == "add" and isinstance(parent, dict):
            parent["approved"] = rng.choice((True, "by nobody", 1, {"a": 1}))
            return f"{path}: a key beside it"


def _place(content: Content, rng: random.Random) -> tuple[Any, Any, str]:
    """Choose a place in JSON: down from the top, so that short lists count as much as long ones."""
    parent, path = content, ""
    while True:
        keys = sorted(parent) if isinstance(parent, dict) else list(range(len(parent)))
        key = rng.choice(keys)
        path = f"{path}.{key}".lstrip(".")
        inner = parent[key]
        if not isinstance(inner, (dict, list)) or not inner or rng.random() < 0.15:
            return parent, key, path
        parent = inner


def _near(new: object, old: object) -> bool:
    """Say whether two values agree as `verify` means it: numbers but for rounding."""
    if isinstance(new, bool) or isinstance(old, bool):
        return new is old
    if isinstance(new, (int, float)) and isinstance(old, (int, float)):
        return abs(new - old) <= max(1e-14, 1e-9 * max(abs(new), abs(old)))
    return new == old


def _other(old: object, rng: random.Random) -> object:
    if isinstance(old, bool):
        return not old
    if isinstance(old, (int, float)):
        numbers = (old + 1, old * (1 + 10 ** rng.uniform(-6, 1)) + 1e-6, -old - 1, 10**200, 1e300, 5e-324, 0)
        return rng.choice((*numbers, None, "1", True))
    if isinstance(old, str):
        at = rng.randrange(len(old) + 1)
        return rng.choice(
            (old[:at] + "x" + old[at:], old[:at] + old[at + 1 :], "", None, 1, "\ud800", "x" * 10_000)
        )
    return rng.choice((0, 1.5, "text", True, [], {}, [1], {"a": 1}))
