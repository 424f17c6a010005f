"""Write inspect/: logs as Inspect AI itself writes them, of two scripted models, and what it says of them.

Run in an environment with ``pip install inspect_ai==0.3.285``. Twelve sums in four topics, two epochs, four scorers;
in the second epoch one answer fails. ``.eval`` is a zip with Zstandard, ``json/*.json`` the same as text; Inspect
writes both, without the events. ``priced/*.eval``: Inspect reckons the cost of each answer from its tokens and a list
of prices, and another model grades.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelCost, ModelInfo, ModelOutput, ModelUsage, get_model, set_model_info
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    PARTIAL,
    Score,
    accuracy,
    match,
    mean,
    model_graded_fact,
    scorer,
)
from inspect_ai.solver import generate, solver

OUTPUT = Path(__file__).resolve().parent / "inspect"
ERRORS = {"large": 0.15, "small": 0.4}
SAMPLES = [
    Sample(
        id=f"s{n}",
        input=f"{n} + {n * n % 7}",
        target=str(n + n * n % 7),
        metadata={"topic": f"topic {n // 3}", "level": n % 2},
    )
    for n in range(12)
]


@scorer(metrics=[mean()])
def closeness():
    """Give a number."""

    async def score(state, target):
        return Score(value=1 / (1 + abs(int(state.output.completion) - int(target.text))))

    return score


@scorer(metrics=[accuracy()])
def graded():
    """Give C, P, I or N."""

    async def score(state, target):
        said, right = state.output.completion, target.text
        grade = CORRECT if said == right else PARTIAL if said[0] == right[0] else INCORRECT
        return Score(value=NOANSWER if grade == INCORRECT and state.epoch == 2 else grade)

    return score


@scorer(metrics={"brief": [mean()], "exact": [mean()]})
def several():
    """Give two values at once."""

    async def score(state, target):
        said = state.output.completion
        return Score(value={"brief": len(said) < 2, "exact": said == target.text})

    return score


@solver
def failing():
    """Fail once."""

    async def solve(state, _generate):
        if state.sample_id == "s4" and state.epoch == 2:
            raise RuntimeError("no answer")
        return state

    return solve


def sums() -> Task:
    """Return the task."""
    return Task(
        name="sums",
        dataset=MemoryDataset(SAMPLES, name="sums"),
        solver=[failing(), generate()],
        scorer=[match(), closeness(), graded(), several()],
        epochs=Epochs(2, "mean"),
        fail_on_error=False,
    )


def model(name: str):
    """Return a model that errs on some of the questions: a digest decides."""
    asked: dict[str, int] = {}

    def answer(messages, _tools, _choice, _config) -> ModelOutput:
        question = messages[-1].text
        asked[question] = asked.get(question, 0) + 1
        first, second = map(int, question.split(" + "))
        draw = hashlib.sha256(f"{name} {question} {asked[question]}".encode()).hexdigest()[:8]
        wrong = int(draw, 16) / 16**8 < ERRORS[name]
        output = ModelOutput.from_content(model=f"mockllm/{name}", content=str(first + second + wrong))
        # Without a usage Inspect counts tokens, with a table that it fetches.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


PRICES = {"large": 3.0, "small": 0.25, "grader": 10.0}
"""Dollars for a million tokens of the question; four times as much for the answer."""


def counted(name: str):
    """Return a model that answers as ``model`` does, with more tokens for a longer sum; the grader says C or I."""

    def answer(messages, _tools, _choice, _config) -> ModelOutput:
        text = messages[-1].text
        if name == "grader":
            said = text.split("[Submission]: ")[1].split()[0]
            right = text.split("[Expert]: ")[1].split()[0]
            output = ModelOutput.from_content("mockllm/grader", f"GRADE: {'C' if said == right else 'I'}")
            output.usage = ModelUsage(input_tokens=5000, output_tokens=100, total_tokens=5100)
            return output
        first, second = map(int, text.split(" + "))
        draw = hashlib.sha256(f"{name} {text}".encode()).hexdigest()[:8]
        wrong = int(draw, 16) / 16**8 < ERRORS[name]
        output = ModelOutput.from_content(model=f"mockllm/{name}", content=str(first + second + wrong))
        tokens = 100 + 10 * first
        output.usage = ModelUsage(input_tokens=tokens, output_tokens=20, total_tokens=tokens + 20)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


def priced() -> None:
    """Write logs with costs that Inspect reckons."""
    prices = {}
    for name, price in PRICES.items():
        set_model_info(f"mockllm/{name}", ModelInfo())
        prices[f"mockllm/{name}"] = ModelCost(
            input=price, output=4 * price, input_cache_write=price, input_cache_read=price
        )
    task = Task(
        name="sums",
        dataset=MemoryDataset(SAMPLES, name="sums"),
        solver=[generate()],
        scorer=[model_graded_fact()],
    )
    (OUTPUT / "priced").mkdir(parents=True, exist_ok=True)
    for name in ERRORS:
        (log,) = evaluate(
            task,
            model=counted(name),
            model_roles={"grader": counted("grader")},
            model_cost_config=prices,
            log_dir="logs",
            display="none",
            max_samples=1,
        )
        log = read_eval_log(log.location)
        for sample in log.samples:
            sample.events = []
        write_eval_log(log, str(OUTPUT / "priced" / f"{name}.eval"))


def main() -> None:
    """Write the logs, and Inspect's own figures."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    (OUTPUT / "json").mkdir(parents=True)
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ERRORS:
            (log,) = evaluate(sums(), model=model(name), log_dir="logs", display="none", max_samples=1)
            log = read_eval_log(log.location)
            for sample in log.samples:
                # Long, and they name folders of the machine.
                sample.events = []
                if sample.error is not None:
                    sample.error.traceback = sample.error.traceback_ansi = ""
            write_eval_log(log, str(OUTPUT / f"{name}.eval"))
            write_eval_log(log, str(OUTPUT / "json" / f"{name}.json"))
            figures[name] = {
                f"{score.name}/{metric.name}": metric.value
                for score in log.results.scores
                for metric in score.metrics.values()
            }
        priced()
    (OUTPUT / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
