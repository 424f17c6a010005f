"""Import of instance files of Every Eval Ever, to which HELM, Inspect AI and lm-evaluation-harness convert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalreport.errors import InputError
from evalreport.imports import answers
from evalreport.texts import Message

_EXPECTED = (
    "an instance file of Every Eval Ever: a JSON object a line with model_id, evaluation_name, sample_id and"
    " evaluation"
)
_NEEDED = ("model_id", "evaluation_name", "sample_id")
METRICS = ("is_correct", "score")


@dataclass(frozen=True, slots=True)
class _Sample:
    """One line of a file."""

    path: Path
    line: int
    content: answers.Record

    @property
    def hash(self) -> str:
        """The digest of the question and its reference; empty: the file has none."""
        written = self.content.get("sample_hash")
        return written if isinstance(written, str) else ""


def import_every_eval_ever(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    tasks: Sequence[str] = (),
    metric: str | None = None,
    runs: answers.Runs = "only",
) -> answers.Imported:
    """Read the instance files of one or more models.

    Parameters
    ----------
    paths
        Instance files (.jsonl), or folders that are searched for them; a line says its model (``model_id``).
    models
        Those to read, also ``FOUND=NAME``; or one name for each path.
    tasks
        The evaluations to read, by ``evaluation_name``; empty: all.
    metric
        The outcome: ``is_correct`` (the default) or ``score``.
    runs
        Several evaluations (``evaluation_id``) of one model and name: refuse, or take the last.

    Raises
    ------
    InputError
        No instance file, a line that is none, or models that were asked different things.
    UsageError
        Two evaluations of one model, or names that do not fit the models.
    """
    sources = answers.chosen(paths, _found, models, tasks=tasks, runs=runs)
    if not sources:
        which = f" of {', '.join(tasks)}" if tasks else ""
        raise InputError(f"there is no instance file{which}", file=str(paths[0]), expected=_EXPECTED)
    outcome = metric or METRICS[0]
    by_hash = _matched_by_hash(sources)
    rows = [
        answers.Row(
            one.model,
            answers.digest(sample.hash) if by_hash else str(sample.content["sample_id"]),
            {"task": one.task, "outcome": _judged(sample, outcome)},
            answers.part_of(sample.content, "metadata"),
            None,
            _costs(sample.content),
            answers.asked_text(answers.part_of(sample.content, "input").get("raw")),
        )
        for one in sources
        for sample in one.source
    ]
    how = Message("imported.by_column", column="sample_hash" if by_hash else "sample_id")
    return answers.as_table(
        rows, [*answers.read_from(sources), Message("imported.outcome", name=outcome), how]
    )


def _found(place: int, given: Path) -> Iterator[answers.Found[list[_Sample]]]:
    """Yield the samples of each model and evaluation in a file, or in the files of a folder."""
    for path in answers.files_of(given, "*.jsonl", _EXPECTED):
        groups: dict[tuple[str, str, str], list[_Sample]] = {}
        for sample in _samples(path):
            content = sample.content
            run = str(content.get("evaluation_id") or "")
            key = (str(content["model_id"]), str(content["evaluation_name"]), run)
            groups.setdefault(key, []).append(sample)
        for (model, task, run), samples in groups.items():
            when = run.rpartition("/")[2]
            yield answers.Found(place, model, str(path), samples, task=task, when=when or path.name)


def _samples(path: Path) -> Iterator[_Sample]:
    for line, content in answers.json_lines(path, _EXPECTED):
        whole = isinstance(content, dict) and isinstance(content.get("evaluation"), dict)
        lacking = [name for name in _NEEDED if not whole or content.get(name) in (None, "")]
        if lacking:
            problem = f"no instance: there is no {lacking[0]}" if whole else "no instance of an evaluation"
            raise InputError(problem, file=str(path), line=line, expected=_EXPECTED)
        yield _Sample(path, line, content)


def _matched_by_hash(found: Sequence[answers.Found[list[_Sample]]]) -> bool:
    """Say whether samples are matched by their digests, because one sample_id names several of them.

    Raises
    ------
    InputError
        It does, and some lines have no digest, or models share none.
    """
    first: dict[tuple[str, str], _Sample] = {}
    clash: tuple[_Sample, _Sample] | None = None
    hashes: dict[tuple[str, str], set[str]] = {}
    for one in found:
        for sample in one.source:
            before = first.setdefault((one.task, str(sample.content["sample_id"])), sample)
            hashes.setdefault((one.task, one.model), set()).add(sample.hash)
            if before.hash != sample.hash and before.hash and sample.hash and clash is None:
                clash = (sample, before)
    if clash is None:
        return False
    by_task: dict[str, list[set[str]]] = {}
    for (task, _), own in hashes.items():
        by_task.setdefault(task, []).append(own)
    if all("" not in set.union(*sets) and set.intersection(*sets) for sets in by_task.values()):
        return True
    sample, before = clash
    name, there = str(sample.content["sample_id"]), f"{before.path}, line {before.line}"
    said = {"sample": name, "what": "another sample_hash", "there": there}
    raise InputError.of("other_question", file=str(sample.path), line=sample.line, **said)


def _judged(sample: _Sample, metric: str) -> float | None:
    """Return the outcome; None: the evaluation of the sample failed."""
    if sample.content.get("error"):
        return None
    value = answers.part_of(sample.content, "evaluation").get(metric)
    return answers.judgement_of(value, f"evaluation.{metric}", str(sample.path), line=sample.line)


def _costs(content: answers.Record) -> dict[str, float | None]:
    return {
        "latency": answers.cost_of(answers.part_of(content, "performance").get("latency_ms"), 1000),
        "tokens": answers.cost_of(answers.part_of(content, "token_usage").get("total_tokens")),
    }
