"""Write deepeval/: test runs as DeepEval itself writes them, of two scripted models judged by two scripted metrics.

Run in an environment with ``pip install deepeval==4.3.1``. The judge fails on one answer of ``small``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": "results"}

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

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


if __name__ == "__main__":
    main()
