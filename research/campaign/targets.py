"""What the fuzzer feeds to the program: for each target a function from a generator to one case."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.options import KEYS
from evalreport.refit.plans import SCHEMES
from research.campaign import damage, grammar

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "imports"
QUICK = ("--resamples", "20", "--interval", "wilson", "-f", "json", "-o", "-", "-q")
ADDRESS = "{address}"
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
MARKER = "<!-- evalreport:0123456789ab -->"


@dataclass(frozen=True, slots=True)
class Case:
    """One try: the words after ``evalreport``, in a folder with these files, with these variables and answers."""

    words: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    answers: tuple[bytes, ...] = ()
    contradicts: bool = False
    """Whether the files contradict one another, so that no run may be made of them."""


Target = Callable[[random.Random], Case]


# --- prediction files -----------------------------------------------------------------------------------------------


USUAL = (
    ("id", "y_true", "y_pred"),
    ("id", "y_true", "y_pred"),
    ("id", "y_true", "p_0", "p_1"),
    ("id", "y_true", "score"),
    ("id", "outcome"),
    ("dataset", "value"),
    ("y_true", "y_pred"),
    ("id", "model", "y_true", "y_pred"),
    (),
)
OTHERS = grammar.WORDS["others"]


def _cell(rng: random.Random, header: str, row: int, odd: float) -> Any:
    """Return a cell as such a column has it, or an odd one."""
    if rng.random() < odd:
        return grammar.text(rng)
    if header in ("id", "sample_id"):
        return f"e{row if rng.random() < 0.998 else row // 2}"
    if header.startswith(("p_", "proba")):
        share = (row % 5) / 4
        return share if header.endswith("1") else 1 - share
    if header == "time":
        return row
    if header == "model":
        return rng.choice(("a", "b")) if rng.random() < 0.02 else "a"
    if header in grammar.WORDS["measuring"]:
        return round(rng.gauss(0, 1), 3)
    if header in grammar.WORDS["counting"]:
        return row % 4
    if header == "part":
        return rng.choice(("test", "test", "train", "validation"))
    return rng.choice(("0", "1")) if header != "dataset" else f"d{row % 5}"


def _table(rng: random.Random) -> dict[str, list[Any]]:
    """Return columns: mostly id, truth and prediction, with others beside them."""
    usual = rng.choice(USUAL)
    others = rng.choice((OTHERS, OTHERS, grammar.COLUMNS))
    headers = list(dict.fromkeys([*usual, *grammar.some(rng, others, 0, rng.choice((0, 1, 3)))]))
    if rng.random() < 0.05:
        headers.append(grammar.text(rng))
    rows, odd = rng.choice((0, 1, 2, 8, 8, 30)), rng.choice((0.0, 0.0, 0.0, 0.02, 0.3))
    return {header: [_cell(rng, header, row, odd) for row in range(rows)] for header in headers or ["id"]}


def _options(rng: random.Random, command: str) -> list[str]:
    """Return some options of `check` or of `run`."""
    words: list[str] = []
    if rng.random() < 0.5:
        return words
    if rng.random() < 0.3:
        words += ["--task", rng.choice(("binary", "multiclass", "regression", "outcome", "scores"))]
    of_run = ["--slice", "--cluster", "--weight"] if command == "run" else []
    offered = ["--value", "--outcome", "--positive", *of_run]
    for option in grammar.some(rng, offered, 0, 1):
        words += [option, rng.choice((rng.choice(grammar.COLUMNS), grammar.text(rng)))]
    if rng.random() < 0.2:
        words += ["--join", rng.choice(("error", "intersect", "independent"))]
    return words


def _reading(rng: random.Random, name: str, content: bytes) -> Case:
    """Read a file that may be damaged, alone or beside another; some are analysed, too."""
    if rng.random() < (0.3 if name.startswith("a.csv") else 0.5):
        content = grammar.mutated(rng, content)
    if name.endswith(".gz"):
        content = gzip.compress(content, 1, mtime=0)
        content = grammar.mutated(rng, content) if rng.random() < 0.3 else content
    files = {f"m/{name}": content}
    if rng.random() < 0.2:
        files[f"m/{rng.choice(('truth', 'other'))}.csv"] = b"id,y_true,y_pred\n" + b"".join(
            b"e%d,%d,%d\n" % (row, row % 2, row % 3 % 2) for row in range(8)
        )
    command = "check" if rng.random() < 0.7 else "run"
    words = [command, "m", *_options(rng, command), *(QUICK if command == "run" else ())]
    return Case(tuple(words), files)


def delimited(rng: random.Random) -> Case:
    """CSV and TSV: header, rows, quotes and line ends as they come, plain or gzipped."""
    name = rng.choice(("a.csv", "a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz"))
    mark = "\t" if ".tsv" in name else ","
    table = _table(rng)
    end = rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    rows = [list(table), *zip(*table.values(), strict=True)]
    quoted = rng.random() < 0.3
    lines = [mark.join(f'"{cell}"' if quoted else str(cell) for cell in row) for row in rows]
    content = end.join(lines) + (end if rng.random() < 0.8 else "")
    return _reading(rng, name, content.encode("utf-8" if rng.random() < 0.98 else "utf-16"))


def json_lines(rng: random.Random) -> Case:
    """JSON Lines: objects, and sometimes what is none."""
    table = _table(rng)
    lines = []
    for row in zip(*table.values(), strict=True):
        record: Any = dict(zip(table, row, strict=True))
        if rng.random() < 0.1:
            record = grammar.changed(rng, record)
        lines.append(grammar.as_json(record) if rng.random() < 0.97 else grammar.as_json(grammar.value(rng)))
    return _reading(rng, rng.choice(("a.jsonl", "a.jsonl", "a.jsonl.gz")), b"\n".join(lines) + b"\n")


def _arrow_column(rng: random.Random, cells: list[Any]) -> Any:
    """Return a column of any type that Arrow has for such cells, or of another."""
    import pyarrow as pa

    texts = [str(cell) for cell in cells]
    odd: dict[str, Callable[[], Any]] = {
        "coded": lambda: pa.array(texts).dictionary_encode(),
        "null in it": lambda: pa.DictionaryArray.from_arrays(
            pa.array([row % 3 for row in range(len(cells))], pa.int8()), pa.array(["0", None, "1"])
        ),
        "twice in it": lambda: pa.DictionaryArray.from_arrays(
            pa.array([row % 3 for row in range(len(cells))], pa.int8()), pa.array(["0", "1", "1"])
        ),
        "nulls": lambda: pa.nulls(len(cells)),
        "booleans": lambda: pa.array([row % 2 == 0 for row in range(len(cells))]),
        "large": lambda: pa.array(texts, pa.large_string()),
        "view": lambda: pa.array(texts, pa.string_view()),
        "bytes": lambda: pa.array([text.encode() for text in texts]),
        "raw bytes": lambda: pa.array([b"\xff" for _ in texts]),
        "lists": lambda: pa.array([[row] for row in range(len(cells))]),
        "structs": lambda: pa.array([{"a": row} for row in range(len(cells))]),
        "times": lambda: pa.array(range(len(cells)), pa.timestamp("us", tz=rng.choice((None, "UTC")))),
        "days": lambda: pa.array([0] * len(cells), pa.date32()),
        "spans": lambda: pa.array([1] * len(cells), pa.duration("s")),
        "decimals": lambda: pa.array([1] * len(cells), pa.decimal128(10, 2)),
        "halves": lambda: pa.array(np.zeros(len(cells), np.float16)),
        "unsigned": lambda: pa.array([2**63] * len(cells), pa.uint64()),
        "runs": lambda: pa.RunEndEncodedArray.from_arrays([max(len(cells), 1)], pa.array(["1"])),
        "numbers": lambda: pa.array([float(row % 2) if row % 5 else None for row in range(len(cells))]),
    }
    if rng.random() < 0.12:
        return odd[rng.choice(list(odd))]()
    return pa.array(texts) if any(isinstance(cell, str) for cell in cells) or not cells else pa.array(cells)


def _arrow_table(rng: random.Random) -> Any:
    import pyarrow as pa

    columns = {header: _arrow_column(rng, cells) for header, cells in _table(rng).items()}
    shortest = min(map(len, columns.values()))
    table = pa.table({header: column.slice(0, shortest) for header, column in columns.items()})
    if rng.random() < 0.05:
        table = table.append_column(table.column_names[0], table.column(0))
    return table


def parquet(rng: random.Random) -> Case:
    """Parquet: types, encodings, row groups; then its bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    try:
        pq.write_table(
            _arrow_table(rng),
            sink,
            compression=rng.choice(("none", "snappy", "zstd", "gzip")),
            use_dictionary=rng.random() < 0.7,
            row_group_size=rng.choice((None, 1, 5)),
        )
    except (pa.ArrowException, TypeError, ValueError):  # no such type in Parquet
        return delimited(rng)
    return _reading(rng, "a.parquet", sink.getvalue())


def arrow(rng: random.Random) -> Case:
    """Arrow files and streams; then their bytes."""
    import pyarrow as pa

    sink, table = io.BytesIO(), _arrow_table(rng)
    options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, "zstd", "lz4")))
    make = rng.choice((pa.ipc.new_file, pa.ipc.new_file, pa.ipc.new_stream))
    try:
        with make(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=rng.choice((1000, 3)))
    except pa.ArrowException:
        return delimited(rng)
    return _reading(rng, rng.choice(("a.arrow", "a.feather")), sink.getvalue())


def npz(rng: random.Random) -> Case:
    """Archives of arrays: any shape and type, lengths that differ; then their bytes."""
    arrays: dict[str, Any] = {}
    for header, cells in _table(rng).items():
        array: Any = np.asarray(cells)
        match rng.randrange(12):
            case 0:
                array = array.reshape(rng.choice(((-1, 1), (1, -1))))
            case 1:
                array = np.array(rng.choice((1, "a", 0.5)))
            case 2:
                array = array.astype(rng.choice(("U", "O")), copy=False) if array.size else array
            case 3:
                array = np.zeros(len(cells), rng.choice(("m8[s]", "M8[D]", "V4", "?", "i1", "u8", "f2", "g")))
            case 4:
                array = array[: len(cells) // 2]
        arrays[header.replace("/", "_") or "empty"] = array
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for header, array in arrays.items():
            member = io.BytesIO()
            np.save(member, array)
            # Without the time of day: the same try is the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{header}.npy"), member.getvalue(), archive.compression)
    return _reading(rng, "a.npz", sink.getvalue())


# --- options, configuration, gates ----------------------------------------------------------------------------------

ROWS = b"id,model,y_true,y_pred,sex\n" + b"".join(
    b"e%d,%s,%d,%d,%s\n" % (i // 2, (b"m", b"k")[i % 2], i // 2 % 2, i % 3 % 2, (b"f", b"m")[i % 4 // 2])
    for i in range(24)
)


def configuration(rng: random.Random) -> Case:
    """evalreport.toml: known and unknown keys, values of any type, tables; then its bytes. Most name no models."""
    lines = ["[evalreport]"] if rng.random() < 0.9 else [grammar.text(rng)]
    for key in grammar.some(rng, KEYS, 0, 5):
        kind = rng.random()
        content = key.example if kind < 0.3 else grammar.as_toml(grammar.value(rng))
        lines.append(f"{key.name if rng.random() < 0.95 else grammar.text(rng)} = {content}")
    content = "\n".join(lines).encode("utf-8", "replace")
    content = grammar.mutated(rng, content) if rng.random() < 0.5 else content
    # A file that is right would go on to analyse: here there is nothing to be analysed.
    return Case(("check", "none.csv", "--config", "c.toml"), {"c.toml": content})


def options(rng: random.Random) -> Case:
    """The options of a run with odd values, beside a file that is right."""
    words = ["run", "m.csv", *QUICK]
    # No resamples: who asks for a number with thirty zeros gets them, and waits.
    others = [key for key in KEYS if key.name not in ("output", "junit", "templates", "resamples")]
    for key in grammar.some(rng, others, 1, 3):
        words.append(key.flag)
        if key.kind == "flag":
            continue
        # Of its kind mostly: what is of another is refused before anything else is looked at.
        fitting = {"integer": ("0", "1", "2", "3", "7", "100"), "number": [*map(str, grammar.NUMBERS)]}
        own = key.choices or fitting.get(key.kind, (*grammar.COLUMNS, *grammar.METRICS))
        any_kind = (grammar.text(rng), str(rng.choice(grammar.NUMBERS)))
        words.append(rng.choice(own if rng.random() < 0.7 else any_kind))
    return Case(tuple(words), {"m.csv": ROWS})


def gate(rng: random.Random) -> Case:
    """Conditions put together from their parts, or from anything."""
    metric = rng.choice(
        (*grammar.METRICS, *["accuracy", "recall[sex=f]", "f1", "accuracy - k.accuracy", "f1 - k.f1"] * 5)
    )
    usual = f"m.{metric} {rng.choice(('>=', '<', '>', '<='))} {rng.choice((0, 0.5, 1, '1e400'))}"
    text = (
        usual
        if rng.random() < 0.5
        else "".join(rng.choice(grammar.WORDS["gate_parts"]) for _ in range(rng.randrange(1, 9)))
    )
    if rng.random() < 0.2:
        text = text[: rng.randrange(len(text) + 1)] + grammar.text(rng) + text[rng.randrange(len(text) + 1) :]
    words = ["run", "m.csv", "-m", "accuracy", "-m", "f1", "-m", "recall", *QUICK, "--gate", text]
    return Case((*words, *(["--slice", "sex"] if rng.random() < 0.5 else [])), {"m.csv": ROWS})


# --- plans and imports ----------------------------------------------------------------------------------------------

PLAN = {
    "seed": 0,
    "backend": "sequential",
    "data": {"file": "d.csv", "target": "y"},
    "scheme": {"name": "kfold"},
    "estimator": [{"name": "k", "import": "sklearn.dummy:DummyClassifier"}],
}
OFFERED = grammar.WORDS["estimators"]


def plan(rng: random.Random) -> Case:
    """Plans with parts replaced and doubled. What they import is of our choice: a plan runs code by right."""
    content: Any = grammar.changed(rng, PLAN) if rng.random() < 0.8 else copy.deepcopy(PLAN)
    for entry in content.get("estimator", []) if isinstance(content.get("estimator"), list) else []:
        if isinstance(entry, dict) and "import" in entry:
            entry["import"] = rng.choice((OFFERED[0], OFFERED[0], *OFFERED))
    if isinstance(content.get("scheme"), dict) and rng.random() < 0.5:
        content["scheme"]["name"] = name = rng.choice(list(SCHEMES))
        for key in grammar.some(rng, list(SCHEMES[name]), 0, 2):
            content["scheme"][key] = rng.choice((2, 1, 3, 0.5, grammar.value(rng)))
    content.pop("scheduler", None)
    backend = content.get("backend")
    if not isinstance(backend, dict) and backend not in ("sequential", "threads"):
        content["backend"] = rng.choice(("sequential", grammar.text(rng) + "?"))
    lines = [f"{grammar.as_toml(str(key))} = {grammar.as_toml(part)}" for key, part in content.items()]
    data = b"id,x,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * 7 % 5, i % 2) for i in range(12))
    text = "\n".join(lines).encode("utf-8", "replace")
    return Case(("resample", "p.toml", "-o", "out", "-q"), {"p.toml": text, "d.csv": data})


@cache
def _logs() -> tuple[tuple[str, bytes], ...]:
    """Return real logs of other tools: small ones of the tests."""
    found = [*DATA.glob("lm_eval/*/samples_*.jsonl"), *DATA.rglob("eval_results_table.json")]
    return tuple((path.name, b"\n".join(path.read_bytes().splitlines()[:3])) for path in sorted(found))


def imports(rng: random.Random) -> Case:
    """Logs of lm-evaluation-harness and MLflow with parts replaced, or with their bytes changed."""
    name, content = rng.choice(_logs())
    tool = "lm-eval" if name.startswith("samples_") else "mlflow"
    if rng.random() < 0.6:
        lines = content.splitlines() if tool == "lm-eval" else [content]
        place = rng.randrange(len(lines))
        lines[place] = grammar.as_json(grammar.changed(rng, json.loads(lines[place])))
        content = b"\n".join(lines)
    else:
        content = grammar.mutated(rng, content)
    words = ["import", tool, name, "-o", "out.csv", "-q"]
    if rng.random() < 0.2:
        words += [
            rng.choice(("--metric", "--task", "--model", "--target", "--outcome", "--id")),
            grammar.text(rng),
        ]
    return Case(tuple(words), {name: content})


# --- results and reviews --------------------------------------------------------------------------------------------

MADE: dict[str, tuple[bytes, bytes]] = {}
"""By name: a results.json of the program's own, and the predictions that it is about."""


def results(rng: random.Random) -> Case:
    """Results of our own with parts replaced, or with their bytes changed: verified, or compared with the original."""
    good, rows = MADE[rng.choice(sorted(MADE))]
    if rng.random() < 0.7:
        content = grammar.as_json(grammar.changed(rng, json.loads(good)))
    else:
        content = grammar.mutated(rng, good)
    files = {"new.json": content, "old.json": good, "m.csv": rows}
    match rng.randrange(6):
        case 0:
            return Case(("verify", "new.json", "-q"), files)
        case 1:
            return Case(("compare-runs", "old.json", "new.json", "--inputs", ".", "."), files)
        case 2 | 3:
            return Case(("compare-runs", "new.json", "old.json"), files)
        case _:
            form = rng.choice(("text", "md", "json"))
            return Case(("compare-runs", "old.json", "new.json", "-f", form), files)


EVENTS: tuple[Any, ...] = (
    {"pull_request": {"number": 7}},
    {"issue": {"number": 7, "pull_request": {}}},
    {"ref": "refs/heads/main"},
)


def review(rng: random.Random) -> Case:
    """Answers of a review's host, events and variables of pipelines, right and odd."""
    listed: Any = [{"id": 5, "body": f"{MARKER} old"}, {"id": 6, "body": "other"}]
    made: Any = {"id": 9, "body": f"{MARKER} new"}
    answers = []
    for good in (listed, made):
        content = grammar.as_json(grammar.changed(rng, good) if rng.random() < 0.7 else grammar.value(rng))
        answer = (
            rng.choice((OK, OK, OK, OK, b"HTTP/1.1 403 No\r\n\r\n", b"HTTP/1.1 201 Made\r\n\r\n")) + content
        )
        answers.append(grammar.mutated(rng, answer) if rng.random() < 0.3 else answer)
    environment = {"GITHUB_REPOSITORY": "a/b", "GITHUB_API_URL": ADDRESS, "GITHUB_TOKEN": "Hunter2-geheim"}
    files = {"summary.md": f"{MARKER}\ntext\n".encode()}
    words = ["comment", "."]
    if rng.random() < 0.4:
        event = grammar.as_json(grammar.changed(rng, rng.choice(EVENTS)))
        files["event.json"] = grammar.mutated(rng, event) if rng.random() < 0.3 else event
        environment["GITHUB_EVENT_PATH"] = "event.json"
    else:
        words += ["--number", "7"]
    if rng.random() < 0.15:
        odd = (
            rng.choice(grammar.WORDS["addresses"])
            if rng.random() < 0.5
            else grammar.text(rng).replace("\0", "?")
        )
        environment[rng.choice(list(environment))] = odd
    if rng.random() < 0.1:
        files["summary.md"] = grammar.mutated(rng, files["summary.md"])
    return Case(tuple(words), files, environment, tuple(answers))


# --- aggregates and histories ---------------------------------------------------------------------------------------

AGGREGATES: list[dict[str, bytes]] = []
"""The files of aggregates of the program's own."""
HISTORIES: list[dict[str, bytes]] = []
"""A history of the program's own, with the predictions of a further night."""


def aggregate(rng: random.Random) -> Case:
    """One edit of an aggregate's files, with the digests made anew, and a run on it."""
    files, contradicts = damage.aggregate_edited(rng, rng.choice(AGGREGATES))
    words = rng.choice((("run", "d"), ("run", "d"), ("run", "d/counts.parquet"), ("check", "d")))
    quick = QUICK if words[0] == "run" else ("-q",)
    return Case(
        (*words, *quick), {f"d/{name}": data for name, data in files.items()}, contradicts=contradicts
    )


def history(rng: random.Random) -> Case:
    """One edit of a history's tables, and a command that reads them."""
    made = rng.choice(HISTORIES)
    url = ("--history", "sqlite:///h.db")
    words: tuple[str, ...] = rng.choice(
        (
            ("audit", "m.csv", *url, "-m", "accuracy", *QUICK),
            ("audit", "m.csv", *url, "-m", "accuracy", *QUICK, "--gate", "a.accuracy >= last - 0.5"),
            ("history", "list", *url),
            ("history", "show", str(rng.randrange(1, 5)), *url),
            ("history", "diff", "1", "3", *url),
            ("history", "site", "site", *url),
            ("history", "export", *url),
            ("history", "export", "--folder", "-o", "all", *url),
            ("history", "accept", "2", "3", *url),
            ("history", "prune", "--keep", "1", *url),
        )
    )
    return Case(words, {**made, "h.db": damage.history_edited(rng, made["h.db"])})


TARGETS: dict[str, tuple[Target, int]] = {
    "delimited": (delimited, 3),
    "json_lines": (json_lines, 3),
    "parquet": (parquet, 6),
    "arrow": (arrow, 6),
    "npz": (npz, 6),
    "configuration": (configuration, 20),
    "options": (options, 3),
    "gate": (gate, 3),
    "plan": (plan, 10),
    "imports": (imports, 12),
    "results": (results, 16),
    "review": (review, 12),
    "aggregate": (aggregate, 50),
    "history": (history, 50),
}
"""Each target with its share of the tries among those of its part: the cheap ones are tried more often."""
DAMAGED = ("aggregate", "history")
"""The targets of the part that damages folders and databases of our own; the others are of the part ``fuzz``."""
