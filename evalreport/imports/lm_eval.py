"""Import of sample logs of lm-evaluation-harness (``samples_TASK_DATE.jsonl``), matched by its digests."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalreport.errors import InputError, UsageError
from evalreport.imports import answers
from evalreport.texts import Message

NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl")
_EXPECTED = (
    "a sample log of lm-evaluation-harness (--log_samples): one JSON object a line with doc and target"
)
_DIGITS = 16
"""Hexadecimal digits of a digest in an id: 64 bits."""


Log = answers.Found[Path]
"""A sample log with its model, task and date."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a log: digests of the question, the filter, and the content."""

    log: Log
    line: int
    number: str
    document: str
    prompt: str
    target: str
    filter: str
    content: answers.Record


def import_lm_eval(
    paths: Sequence[Path],
    *,
    models: Sequence[str] = (),
    tasks: Sequence[str] = (),
    metric: str | None = None,
    filter_name: str | None = None,
    prompts_differ: bool = False,
    runs: answers.Runs = "only",
) -> answers.Imported:
    """Read the sample logs of one or more models.

    Parameters
    ----------
    paths
        Folders that are searched for sample logs, or logs; a log's folder is its model, unless ``models`` names it.
    models
        The models to read, also ``FOUND=NAME``; or one name for each path.
    tasks
        The tasks to read; empty: all.
    metric
        The judgement of a sample that is the outcome; None: the first in the log.
    filter_name
        The filter whose answers count; None: the only one.
    prompts_differ
        Accept different prompts for the same question (other examples before it, another template).
    runs
        Several logs of one model and task: refuse, take the last, or take all as attempts.

    Raises
    ------
    InputError
        There is no log, a line is no sample, a sample lacks the metric, or models were asked different things.
    UsageError
        There are several filters or runs, and none was named.
    """
    every = "--runs all to take them as attempts, "
    logs = answers.chosen(paths, _logs, models, tasks=tasks, runs=runs, or_else=every)
    if not logs:
        which = f" of the tasks {', '.join(tasks)}" if tasks else ""
        raise InputError(
            f"there is no file samples_TASK_DATE.jsonl{which}", file=str(paths[0]), expected=_EXPECTED
        )
    numbered = _numbered(logs)
    files = answers.read_from([log for log, _ in sorted(numbered, key=lambda pair: logs.index(pair[0]))])
    asked, rows, notes = dict[tuple[str, ...], tuple[str, str]](), list[answers.Row](), set[Message]()
    for log, run in numbered:
        samples = _filtered(list(_samples(log)), filter_name)
        examples = _examples(samples)
        for sample, example in zip(samples, examples, strict=True):
            _check_question(asked, sample, example, prompts_differ=prompts_differ)
            name = metric or _first_metric(sample)
            rows += _judged(sample, example, name, run)
            notes.add(_meaning(rows[-1], name, sample.filter))
    _refuse_mixture(rows)
    table = answers.as_table(rows, [*files, *sorted(notes, key=str)])
    unit = next((unit for unit in _PERPLEXITIES.values() if f"nats_per_{unit}" in table.columns), None)
    if unit is not None:
        return replace(table, options=_options(unit))
    in_pairs = Message("imported.labels_in_pairs", name="mcc") in notes
    return replace(table, options=("-m", "mcc")) if in_pairs else table


def _options(unit: str) -> tuple[str, ...]:
    """Return the options of a run by which the mean of log likelihoods is the logarithm of the perplexity."""
    return ("--outcome", f"nats_per_{unit}", "--weight", f"{unit}s", "--lower-is-better")


def _meaning(row: answers.Row, name: str, filter_name: str) -> Message:
    """Say which column the values of a metric became."""
    if "y_true" in row.values:
        return Message("imported.labels_in_pairs", name=name)
    if "outcome" not in row.values:
        unit = _PERPLEXITIES[name]
        return Message("imported.log_likelihoods", name=name, unit=unit, options=" ".join(_options(unit)))
    if filter_name != "none":
        return Message("imported.outcome_filtered", name=name, filter=filter_name)
    return Message("imported.outcome", name=name)


def _logs(place: int, path: Path) -> Iterator[Log]:
    for file in answers.files_of(path, "samples_*.jsonl", _EXPECTED):
        match = NAME.fullmatch(file.name)
        task, date = (match["task"], match["date"] or "") if match else (file.stem, "")
        yield answers.Found(place, file.absolute().parent.name, str(file), file, task=task, when=date)


def _numbered(logs: Sequence[Log]) -> list[tuple[Log, str | None]]:
    """Return the logs to read, with the number of the run if several are of one model and task."""
    every, numbers = Counter((log.model, log.task) for log in logs), Counter[tuple[str, str]]()
    numbered = []
    for log in sorted(logs, key=lambda log: (log.model, log.task, log.when, log.file)):
        key = (log.model, log.task)
        numbers[key] += 1
        numbered.append((log, str(numbers[key]) if every[key] > 1 else None))
    return numbered


def _samples(log: Log) -> Iterator[Sample]:
    for line, content in answers.json_lines(log.source, _EXPECTED):
        if not isinstance(content, dict) or "doc" not in content or "target" not in content:
            raise InputError("no sample", file=log.file, line=line, expected=_EXPECTED)
        yield Sample(
            log=log,
            line=line,
            number=str(content.get("doc_id", line)),
            document=_digest(content, "doc_hash", content["doc"]),
            prompt=_digest(content, "prompt_hash", content.get("arguments")),
            target=_digest(content, "target_hash", content["target"]),
            filter=str(content.get("filter", "none")),
            content=content,
        )


def _digest(content: answers.Record, name: str, of: object) -> str:
    """Return the harness's digest, or one of our own for older versions without digests."""
    written = content.get(name)
    if isinstance(written, str) and written:
        return written
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()


def _filtered(samples: list[Sample], name: str | None) -> list[Sample]:
    known = list(dict.fromkeys(sample.filter for sample in samples))
    if name is None and len(known) > 1:
        raise UsageError(
            f"{samples[0].log.file}: the answers were filtered in {len(known)} ways: add --filter with one of"
            f" {', '.join(known)}"
        )
    if name is None or (known == ["none"]):
        return samples
    if name not in known:
        raise UsageError(f"{samples[0].log.file}: there is no filter {name!r}; known: {', '.join(known)}")
    return [sample for sample in samples if sample.filter == name]


def _examples(samples: Sequence[Sample]) -> list[str]:
    """Return the id of each sample of a log: the digest of its document, numbered if it occurs again."""
    counts: dict[str, int] = {}
    examples = []
    for sample in samples:
        name = sample.document[:_DIGITS]
        counts[name] = counts.get(name, 0) + 1
        examples.append(name if counts[name] == 1 else f"{name}-{counts[name]}")
    return examples


def _check_question(
    asked: dict[tuple[str, ...], tuple[str, str]], sample: Sample, example: str, *, prompts_differ: bool
) -> None:
    """Refuse models that were asked different things."""
    task, file = sample.log.task, sample.log.file

    def refuse_other(part: str, key: str, question: str, code: str) -> None:
        name = f"{sample.number} of the task {task}"
        answers.refuse_other_question(
            asked, (part, task, key), question,
            sample=name, what=f"another {part}", file=file, line=sample.line, code=code,
        )  # fmt: skip

    refuse_other("document", sample.number, sample.document, "other_question_of_task")
    refuse_other("target", example, sample.target, "other_question_of_task")
    if not prompts_differ:
        refuse_other("prompt", example, sample.prompt, "other_prompt")


def _refused(sample: Sample, problem: str, expected: str, remedy: str | None = None) -> InputError:
    return InputError(problem, file=sample.log.file, line=sample.line, expected=expected, remedy=remedy)


def _first_metric(sample: Sample) -> str:
    named = sample.content.get("metrics")
    if isinstance(named, list) and named:
        return str(named[0])
    numbers = [n for n, v in sample.content.items() if n != "doc_id" and isinstance(v, (bool, int, float))]
    if numbers:
        return numbers[0]
    raise _refused(sample, "no metric", "a judgement of the sample")


_OF_LABELS = re.compile(r"(.*[_-])?(mcc|f1|kappa)([_-].*)?|matthews_corrcoef", re.IGNORECASE)
"""Metrics that the harness computes from the labels of all samples: a sample's value is (true label, prediction)."""


_PERPLEXITIES = {"word_perplexity": "word", "byte_perplexity": "byte", "bits_per_byte": "byte"}
"""Metrics of sums over all samples, whose value of a sample is (log likelihood, number of words or bytes)."""


def _judged(sample: Sample, example: str, metric: str, run: str | None) -> list[answers.Row]:
    """Return the rows of a sample: its true label and its prediction, or one row for each judgement of it.

    Raises
    ------
    InputError
        The sample has no such metric, or its value is neither a judgement, nor several, nor two labels.
    """
    file, line = sample.log.file, sample.line
    known = sample.content.get("metrics")
    has = ", ".join(map(str, known)) if isinstance(known, list) else "none"
    remedy = f"name another metric with --metric; this log has {has}"
    if metric not in sample.content:
        raise InputError(f"there is no {metric}", file=file, line=line, column=metric, remedy=remedy)
    value = sample.content[metric]
    several = isinstance(value, list)
    parts = value if isinstance(value, list) and value else [value]
    if several and len(parts) == 2 and not _answered(sample, 2):
        values, further = _of_pair(sample, metric, parts, remedy)
        metadata = {**_metadata(sample), **further}
        return [answers.Row(sample.log.model, example, values, metadata, run, text=_text(sample))]
    judged = [answers.judgement_of(part, metric, file, line=line, remedy=remedy) for part in parts]
    rows = []
    for place, number in enumerate(judged, start=1):
        attempt = f"{run}.{place}" if run and several else str(place) if several else run
        values = {"task": sample.log.task, "outcome": number}
        rows.append(
            answers.Row(sample.log.model, example, values, _metadata(sample), attempt, text=_text(sample))
        )
    return rows


def _answered(sample: Sample, times: int) -> bool:
    """Say whether the model answered the sample so often (``repeats`` of a task)."""
    responses = sample.content.get("resps")
    return isinstance(responses, list) and any(isinstance(r, list) and len(r) == times for r in responses)


def _of_pair(
    sample: Sample, metric: str, pair: list[answers.Json], remedy: str
) -> tuple[dict[str, object], dict[str, object]]:
    """Return the columns and the metadata that a pair means: two labels, or a log likelihood and its length.

    Raises
    ------
    InputError
        The metric is none of labels and no perplexity, so that the two values may be anything.
    """
    task = {"task": sample.log.task}
    if _OF_LABELS.fullmatch(metric) and all(isinstance(part, (str, int, bool)) for part in pair):
        true, predicted = (int(part) if isinstance(part, bool) else part for part in pair)
        return {**task, "y_true": true, "y_pred": predicted}, {}
    unit = _PERPLEXITIES.get(metric)
    if unit is not None:
        likelihood, length = (answers.number_of(part) for part in pair)
        if likelihood is not None and length is not None and length > 0:
            return {**task, f"nats_per_{unit}": -likelihood / length}, {f"{unit}s": length}
    raise _refused(
        sample,
        f"the value of {metric} is a pair, {json.dumps(pair)[:60]}, from two numbers of this one sample",
        "one number a sample, a number for each of several answers, or (true label, prediction) of mcc and f1",
        remedy,
    )


def _refuse_mixture(rows: Sequence[answers.Row]) -> None:
    """Refuse tasks whose values are of two kinds, such as labels and outcomes: a prediction file holds one of them.

    Raises
    ------
    UsageError
        With a task of each kind, to be imported by itself.
    """
    kinds = {list(row.values)[1]: str(row.values["task"]) for row in rows}
    if len(kinds) > 1:
        each = ", ".join(f"{kind} of {task}" for kind, task in sorted(kinds.items()))
        raise UsageError(
            f"the tasks give columns of several kinds ({each}): import those of each kind into a file of their own"
            f" (--task {min(kinds.values())}), or name a metric that all have with --metric"
        )


ASKED = (
    *("question", "query", "problem", "prompt", "ctx", "goal", "premise", "sentence"),
    *("text", "input", "instruction"),
)
"""Fields of a document that ask the question, the likeliest first."""


def _text(sample: Sample) -> str | None:
    """Return the question: a field of the document, else the end of the prompt."""
    document = _metadata(sample)
    for name in ASKED:
        if (text := answers.asked_text(document.get(name))) is not None:
            return text
    prompt = answers.asked_text(
        answers.part_of(answers.part_of(sample.content, "arguments"), "gen_args_0").get("arg_0")
    )
    return None if prompt is None else prompt[-answers.LONGEST_TEXT :]


def _metadata(sample: Sample) -> answers.Record:
    """Return the fields of the document, such as topic or passage."""
    document = sample.content["doc"]
    return document if isinstance(document, dict) else {}
