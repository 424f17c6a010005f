"""Import of logs of Inspect AI (``.eval``: a zip of JSON, or ``.json``), without Inspect itself."""

from __future__ import annotations

import math
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from evalreport.errors import InputError, UsageError
from evalreport.imports import answers
from evalreport.texts import Message

_EXPECTED = "a log of Inspect AI: .eval, or .json with eval and samples"
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's own values: correct, partially correct, incorrect, no answer."""
GRADER = "grader"
"""The role in which Inspect's scorers ask a model: what judging costs is no part of what an answer costs."""
ZSTANDARD = 93
"""The number of zstandard in a zip, which Python reads from 3.14 on."""
MOST_UNPACKED = 1_000_000_000
"""The greatest number of unpacked bytes of one log."""
MOST_MEMBERS = 1_000_000
_PART = 1_000_000
_LOCAL_HEADER = 30
_KEPT = (
    *("id", "epoch", "target", "metadata", "scores", "input"),
    *("total_time", "working_time", "model_usage", "role_usage"),
)
_REMOVED = "Key removed from summary"


@dataclass(frozen=True, slots=True)
class Log:
    """The samples of one log, how many were planned, and its status."""

    samples: tuple[answers.Record, ...]
    planned: int | None
    status: str


def import_inspect(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    scorer: str | None = None,
    gold: str | None = None,
    runs: answers.Runs = "only",
) -> answers.Imported:
    """Read the logs of one or more evaluations.

    Parameters
    ----------
    paths
        Logs, or folders that are searched for them; a log says its model, unless ``models`` names it.
    models
        Those to read, also ``FOUND=NAME``; or one name for each path, for two runs of one model.
    scorer
        Whose score is the outcome (``SCORER/KEY`` where it gives several values); None: there must be one only.
    gold
        The scorer that holds what a person judged, for the column ``gold``.
    runs
        Several logs of one model and task, as a retry leaves them: refuse, or take the last.

    Raises
    ------
    InputError
        No log, a score that is no number, or models that were asked different things.
    UsageError
        Several scorers and none was named, or two logs of one model and task.
    """
    logs = answers.chosen(paths, _logs, models, runs=runs)
    if not logs:
        raise InputError("there is no log", file=str(paths[0]), expected=_EXPECTED)
    outcome = _scorer(logs, scorer, gold)
    rows: list[answers.Row] = []
    asked: dict[tuple[str, ...], tuple[str, str]] = {}
    said = [*answers.read_from(logs), Message("imported.outcome", name=outcome)]
    for one in logs:
        log = one.source
        for sample in sorted(log.samples, key=lambda sample: (str(sample["id"]), str(sample.get("epoch")))):
            example = str(sample["id"])
            target, key = answers.digest(sample.get("target")), (one.task, example)
            answers.refuse_other_question(
                asked, key, target, sample=example, what="another target", file=one.file
            )
            values = {"task": one.task, "outcome": _score(one.file, sample, outcome)}
            if gold is not None:
                values["gold"] = _score(one.file, sample, gold)
            metadata, attempt = answers.part_of(sample, "metadata"), str(sample.get("epoch", 1))
            rows.append(
                answers.Row(one.model, example, values, metadata, attempt, _costs(sample), _text(sample))
            )
        if log.planned is not None and len(log.samples) < log.planned:
            counts = {"n": len(log.samples), "planned": log.planned}
            said.append(Message("imported.unfinished", file=one.file, status=log.status, **counts))
    return answers.as_table(rows, said)


def _found(place: int, path: Path, content: answers.Record) -> answers.Found[Log]:
    """Return a parsed log with the name of its model."""
    header = content["eval"]
    samples = content["samples"]
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or "id" not in sample:
            raise InputError(f"sample {number} has no id", file=str(path), expected=_EXPECTED)
    dataset, config = header.get("dataset"), header.get("config")
    ids = dataset.get("sample_ids") if isinstance(dataset, dict) else None
    epochs = answers.number_of(config.get("epochs") or 1) if isinstance(config, dict) else None
    planned = round(len(ids) * epochs) if isinstance(ids, list) and epochs is not None else None
    kept = tuple({name: sample[name] for name in _KEPT if name in sample} for sample in samples)
    model, task = (str(header.get(name, path.stem)) for name in ("model", "task"))
    log = Log(kept, planned, str(content.get("status", "?")))
    return answers.Found(
        place, model, str(path), log, task=task, when=str(header.get("created") or path.name)
    )


def _costs(sample: answers.Record) -> dict[str, float | None]:
    """Return what a sample cost: the seconds that it took without waiting, and all models but the grader."""
    working = answers.cost_of(sample.get("working_time"))
    return {
        "cost": _total(sample, "total_cost"),
        "latency": answers.cost_of(sample.get("total_time")) if working is None else working,
        "tokens": _total(sample, "total_tokens"),
    }


def _total(sample: answers.Record, name: str) -> float | None:
    """Add up what the models used, less what was used in the role of the grader; None: not known of some."""
    used = [own for own in answers.part_of(sample, "model_usage").values() if isinstance(own, dict)]
    by_grader = answers.part_of(answers.part_of(sample, "role_usage"), GRADER)
    known = [answers.cost_of(own.get(name)) for own in used]
    graded = answers.cost_of(by_grader.get(name)) if by_grader else 0.0
    if not known or None in known or graded is None:
        return None
    return max(math.fsum([*(value for value in known if value is not None), -graded]), 0.0)


def _text(sample: answers.Record) -> str | None:
    """Return the question: the input, or the last message of the user."""
    given = sample.get("input")
    if isinstance(given, list):
        asked = [m.get("content") for m in given if isinstance(m, dict) and m.get("role") == "user"]
        given = asked[-1] if asked else None
        if isinstance(given, list):
            given = " ".join(str(part["text"]) for part in given if isinstance(part, dict) and "text" in part)
    return answers.asked_text(given)


def _scorers(sample: answers.Record) -> Iterator[tuple[str, object]]:
    """Yield the scores of a sample; a scorer with several values has one for each key."""
    scores = sample.get("scores")
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{name}/{key}", part) for key, part in value.items())
        else:
            yield name, value


def _scorer(logs: Sequence[answers.Found[Log]], scorer: str | None, gold: str | None) -> str:
    """Return the scorer of the outcome: the named one, else the only one."""
    samples = [sample for log in logs for sample in log.source.samples]
    known = list(dict.fromkeys(name for sample in samples for name, _ in _scorers(sample)))
    for name in (scorer, gold):
        if name is not None and name not in known:
            raise InputError(
                f"there is no scorer {name!r}",
                file=logs[0].file,
                expected=f"one of {', '.join(known[:20]) or 'no scorers'}",
            )
    if scorer is not None:
        return scorer
    rest = [name for name in known if name != gold]
    if len(rest) > 1:
        raise UsageError(f"samples were scored by {', '.join(rest[:20])}: name one with --scorer")
    if not rest:
        raise InputError(
            "no sample has a score",
            file=logs[0].file,
            expected=f"a log that was scored (the status of this one: {logs[0].source.status})",
            remedy="run the evaluation again, or score its samples: inspect score LOG",
        )
    return rest[0]


def _score(file: str, sample: answers.Record, scorer: str) -> float | None:
    """Return a sample's score; None: an error or a limit prevented it."""
    value = dict(_scorers(sample)).get(scorer)
    if isinstance(value, str) and value in GRADES:
        return GRADES[value]
    place = f" as the score of the sample {str(sample['id'])[:60]}"
    remedy = "name another scorer with --scorer"
    return answers.judgement_of(value, scorer, file, place=place, remedy=remedy)


def _logs(place: int, given: Path) -> Iterator[answers.Found[Log]]:
    in_folder = given.is_dir()
    for path in sorted((*given.rglob("*.eval"), *given.rglob("*.json"))) if in_folder else [given]:
        try:
            content = _content(path)
        except InputError:
            # A folder of logs may hold other JSON, such as their listing.
            if path.suffix == ".eval" or not in_folder:
                raise
        else:
            yield _found(place, path, content)


def _content(path: Path) -> dict[str, object]:
    """Return a log's header and samples: eval, status, samples."""
    content = _unzipped(path) if path.suffix == ".eval" else answers.json_of(path, _EXPECTED)
    header = content.get("eval") if isinstance(content, dict) else None
    if not isinstance(header, dict) or not isinstance(content.get("samples"), list):
        raise InputError("no log with samples", file=str(path), expected=_EXPECTED)
    return dict(content)


def _unzipped(path: Path) -> dict[str, object]:
    """Read the header of a zip, and the summaries of the samples or else the samples."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError("it is not a regular file", file=str(path), expected=_EXPECTED)
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            if len(archive.namelist()) > MOST_MEMBERS:
                raise InputError(f"it has more than {MOST_MEMBERS} parts", file=str(path), expected=_EXPECTED)
            members = _Archive(path, stream, archive, MOST_UNPACKED)
            names = set(archive.namelist())
            header = _json(members, "header.json" if "header.json" in names else "_journal/start.json")
            if not isinstance(header, dict):
                raise InputError("no header", file=str(path), expected=_EXPECTED)
            return {"status": "started", **header, "samples": _samples(members, names)}
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror is not None:
            raise InputError(
                f"cannot be read ({error.strerror})", file=str(path), remedy="check the path"
            ) from None
        raise InputError(f"a broken zip ({str(error)[:120]})", file=str(path), expected=_EXPECTED) from None


def _samples(members: _Archive, names: set[str]) -> list[answers.Record]:
    journal = [name for name in names if name.startswith("_journal/summaries/")]
    journal.sort(key=lambda name: (len(name), name))
    parts = ["summaries.json"] if "summaries.json" in names else journal
    summaries = [sample for name in parts for sample in _list(_json(members, name))]
    if summaries and all(map(_whole, summaries)):
        return summaries
    # Summaries of old logs lack metadata, and long metadata is removed from them.
    return [_json(members, name) for name in sorted(names) if name.startswith("samples/")]


def _list(value: object) -> list[answers.Record]:
    return value if isinstance(value, list) else []


def _whole(summary: object) -> bool:
    metadata = summary.get("metadata") if isinstance(summary, dict) else None
    return isinstance(metadata, dict) and not any(
        isinstance(value, str) and value.startswith(_REMOVED) for value in metadata.values()
    )


@dataclass(slots=True)
class _Archive:
    """An open log, and the number of bytes that may still be unpacked."""

    path: Path
    stream: BinaryIO
    zipped: zipfile.ZipFile
    left: int


def _json(archive: _Archive, name: str) -> answers.Json:
    """Return the value of a part."""
    try:
        info = archive.zipped.getinfo(name)
    except KeyError:
        raise InputError(f"it has no part {name}", file=str(archive.path), expected=_EXPECTED) from None
    content = b"".join(_unpacked(archive, info))
    # zipfile checks the sums of what it unpacks.
    if info.compress_type == ZSTANDARD and zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"{name} is damaged")
    return answers.parsed(content.decode("utf-8"), Path(f"{archive.path}:{name}"), None, _EXPECTED)


def _unpacked(archive: _Archive, info: zipfile.ZipInfo) -> Iterator[bytes]:
    zstandard = info.compress_type == ZSTANDARD
    with _zstandard(archive, info) if zstandard else archive.zipped.open(info) as member:
        while part := member.read(_PART):
            archive.left -= len(part)
            if archive.left < 0:
                raise InputError(
                    f"its parts have more than {MOST_UNPACKED // 10**6} MB",
                    file=str(archive.path),
                    expected=_EXPECTED,
                )
            yield part


def _zstandard(archive: _Archive, info: zipfile.ZipInfo) -> pa.NativeFile:
    archive.stream.seek(info.header_offset)
    header = archive.stream.read(_LOCAL_HEADER)
    if header[:4] != b"PK\x03\x04" or len(header) < _LOCAL_HEADER or info.flag_bits & 1:
        raise zipfile.BadZipFile("a part without its header, or encrypted")
    # The name and the extra field are between the header and the content.
    names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    archive.stream.seek(names, 1)
    # Parts may overlap, so the bytes read are counted, too.
    archive.left -= info.compress_size
    packed = archive.stream.read(info.compress_size) if archive.left > 0 else b""
    return pa.input_stream(pa.py_buffer(packed), compression="zstd")
