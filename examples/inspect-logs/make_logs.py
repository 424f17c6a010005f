"""Write logs/: two scripted models answer 120 sums, evaluated by Inspect AI itself.

Run in an environment with ``pip install inspect_ai==0.3.285``. No model is called: who is wrong where is drawn with a
fixed seed, the larger model on about 9 % of the questions, the smaller one on about 22 %.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

OUTPUT = Path(__file__).resolve().parent / "logs"
ERRORS = {"large": 0.09, "small": 0.22}
SUMS = [(n % 13 + 2, n * 7 % 31 + 3) for n in range(120)]
SAMPLES = [
    Sample(
        id=f"q{n:03}",
        input=f"What is {a} + {b}?",
        target=str(a + b),
        metadata={"carry": "carry" if a % 10 + b % 10 > 9 else "no carry"},
    )
    for n, (a, b) in enumerate(SUMS)
]


def answers(name: str) -> list[ModelOutput]:
    """Return what a model says to each question, in their order."""
    draw = random.Random(f"{name} 7")  # noqa: S311 - an example, no secret
    said = [a + b + (1 if draw.random() < ERRORS[name] else 0) for a, b in SUMS]
    outputs = [ModelOutput.from_content(name, str(number)) for number in said]
    for output in outputs:
        # Without a usage Inspect counts tokens, with a table that it fetches.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return outputs


def main() -> None:
    """Evaluate both models and keep their logs."""
    OUTPUT.mkdir(exist_ok=True)
    for name in ERRORS:
        with tempfile.TemporaryDirectory() as place:
            task = Task(dataset=MemoryDataset(SAMPLES), solver=generate(), scorer=match(), name="sums")
            model = get_model(f"mockllm/{name}", custom_outputs=answers(name))
            (log,) = evaluate(task, model=model, log_dir=place, display="none", max_samples=1)
            log = read_eval_log(log.location)
        for sample in log.samples:
            sample.events = []  # most of a log, and not what is imported
        write_eval_log(log, str(OUTPUT / f"{name}.eval"))


if __name__ == "__main__":
    main()
