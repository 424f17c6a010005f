"""Write deepeval/: test runs as DeepEval itself writes them, of two scripted models judged by two scripted metrics.

Run in an environment with ``pip install deepeval==4.3.1``. The judge fails on one answer of ``small``.
``deepeval_costs/`` has runs with costs: ``cases`` of test cases that say theirs, ``traced`` of a program whose calls
of models DeepEval traced; the judge costs something too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": "results"}

from deepeval import evaluate
from deepeval.dataset import EvaluationDataset, Golden
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
from deepeval.tracing import observe, update_current_trace, update_llm_span

OUTPUT = Path(__file__).resolve().parent / "deepeval"
ERRORS = {"large": 0.15, "small": 0.4}


class Exact(BaseMetric):
    """Say whether the answer is the expected one."""

    threshold = 0.5
    async_mode = strict_mode = include_reason = False
    evaluation_model = None
    error = None

    def measure(self, test_case, *_, **__):
        """Judge one answer."""
        self.error = None
        if not test_case.actual_output:
            raise ValueError("the judge is down")
        self.score = self.judge(test_case.actual_output, test_case.expected_output)
        self.success = self.score >= self.threshold
        return self.score

    def judge(self, answer: str, expected: str) -> float:
        """Return 1 or 0."""
        return float(answer == expected)

    async def a_measure(self, test_case, *_, **__):
        """Judge one answer."""
        return self.measure(test_case)

    def is_successful(self):
        """Say whether it passed."""
        return self.success

    @property
    def __name__(self):
        return type(self).__name__


class Costly(Exact):
    """Say the same, for a price."""

    def measure(self, test_case, *_, **__):
        """Judge one answer."""
        self.evaluation_cost = 0.75
        return super().measure(test_case)


class Closeness(Exact):
    """Say how near the answer is."""

    def judge(self, answer: str, expected: str) -> float:
        """Return 1 for the same number, less the further away."""
        return 1 / (1 + abs(int(answer) - int(expected)))


def cases(model: str) -> list[LLMTestCase]:
    """Return sums with a model's answers."""
    found = []
    for n in range(12):
        question = f"{n} + {n * n % 7}"
        draw = int(hashlib.sha256(f"{model} {question}".encode()).hexdigest()[:8], 16) / 16**8
        answer = str(n + n * n % 7 + (draw < ERRORS[model]))
        found.append(
            LLMTestCase(
                input=question,
                actual_output="" if (model, n) == ("small", 3) else answer,
                expected_output=str(n + n * n % 7),
                additional_metadata={"topic": f"topic {n // 3}"},
                tags=["sums"],
            )
        )
    return found


def main() -> None:
    """Write a file for each model."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    os.chdir(tempfile.mkdtemp())
    for model in ERRORS:
        evaluate(
            cases(model),
            [Exact(), Closeness()],
            hyperparameters={"model": model, "temperature": 0},
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            async_config=AsyncConfig(run_async=False),
            error_config=ErrorConfig(ignore_errors=True),
            cache_config=CacheConfig(write_cache=False),
        )
        (run,) = Path("results").glob("test_run_*.json")
        shutil.move(run, OUTPUT / f"{model}.json")
    costs()


PRICES = {"large": 3e-6, "small": 0.25e-6}
"""Dollars for a token of the question; four times as much for one of the answer."""
QUIET = {
    "display_config": DisplayConfig(show_indicator=False, print_results=False),
    "async_config": AsyncConfig(run_async=False),
    "cache_config": CacheConfig(write_cache=False),
}


def costs() -> None:
    """Write the runs with costs: 100 + 10 n tokens of the question, 20 of the answer, n + 1 tenths of a second."""
    place = OUTPUT.with_name("deepeval_costs")
    shutil.rmtree(place, ignore_errors=True)
    for model, price in PRICES.items():
        answered = [case for case in cases(model) if not case.input.startswith("3 ")]
        for case in answered:
            n = int(case.input.split()[0])
            case.input_token_count, case.output_token_count = 100 + 10 * n, 20
            case.token_cost = price * (100 + 10 * n + 4 * 20)
            case.completion_time = (n + 1) / 10
        evaluate(answered, [Costly()], hyperparameters={"model": model}, **QUIET)
        keep(place / "cases" / f"{model}.json")
        goldens = [Golden(input=case.input, expected_output=case.expected_output) for case in answered]
        app = program({case.input: case for case in answered}, price)
        dataset = EvaluationDataset(goldens=goldens)
        for golden in dataset.evals_iterator(metrics=[Costly()], **QUIET):
            app(golden.input)
        keep(place / "traced" / f"{model}.json")


def program(known: dict[str, LLMTestCase], price: float):
    """Return a program that calls a model twice: for half of the tokens of the question, and of the answer, each."""

    @observe(type="llm", model="scripted", cost_per_input_token=price, cost_per_output_token=4 * price)
    def call(question: str) -> str:
        n = int(question.split()[0])
        update_llm_span(input_token_count=50 + 5 * n, output_token_count=10)
        time.sleep((n + 1) / 200)
        return known[question].actual_output

    @observe()
    def app(question: str) -> str:
        call(question)
        answer = call(question)
        expected = known[question].expected_output
        update_current_trace(input=question, output=answer, expected_output=expected)
        return answer

    return app


def keep(place: Path) -> None:
    """Move the newest run."""
    place.parent.mkdir(parents=True, exist_ok=True)
    (run,) = Path("results").glob("test_run_*.json")
    shutil.move(run, place)


if __name__ == "__main__":
    main()
