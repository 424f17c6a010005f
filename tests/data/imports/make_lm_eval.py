"""Write lm_eval/: sample logs as lm-evaluation-harness itself writes them, of two scripted models on three tasks.

Run in an environment of its own: ``pip install lm_eval==0.4.13``, then ``python make_lm_eval.py``. The tasks are
defined here, nothing is fetched. ``careful`` and ``hasty`` answer by rules below, with errors drawn from digests of the
prompts. aggregates.json holds what the harness itself makes of the samples.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

import lm_eval
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "lm_eval"

CAPITALS = """
task: capitals
dataset_path: json
dataset_kwargs: {data_files: capitals.jsonl}
test_split: train
output_type: multiple_choice
doc_to_text: "Q: What is the capital of {{country}}?\\nA:"
doc_to_choice: "{{choices}}"
doc_to_target: answer
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
"""
EVEN = """
task: even
dataset_path: json
dataset_kwargs: {data_files: even.jsonl}
test_split: train
output_type: multiple_choice
doc_to_text: "Is {{number}} even?"
doc_to_choice: ["no", "yes"]
doc_to_target: "{{1 - number % 2}}"
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
"""
# Three answers are sampled for each sum. "first" scores one of them, "each" all three.
SUMS = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: sums.jsonl}
test_split: train
output_type: generate_until
doc_to_text: "{{a}} + {{b}} ="
doc_to_target: "{{a + b}}"
repeats: 3
generation_kwargs: {until: ["\\n"], do_sample: true, temperature: 0.7}
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: each, filter: [{function: take_first_k, k: 3}]}
process_results: !function scoring.right
metric_list:
  - {metric: right, aggregation: !function scoring.mean, higher_is_better: true}
"""
SCORING = """
def right(doc, results):
    target, said = str(doc["a"] + doc["b"]), results[0]
    if isinstance(said, list):
        return {"right": [float(text.strip() == target) for text in said]}
    return {"right": float(said.strip() == target)}

def mean(values):
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    return sum(flat) / len(flat)
"""
COUNTRIES = {
    "France": "Paris Lyon Nice", "Peru": "Lima Cusco Ica", "Japan": "Tokyo Osaka Kobe",
    "Kenya": "Nairobi Mombasa Kisumu", "Norway": "Oslo Bergen Moss", "Chad": "Ndjamena Moundou Abeche",
    "Cuba": "Havana Holguin Moa", "Laos": "Vientiane Pakse Thakhek", "Spain": "Madrid Vigo Leon",
    "Egypt": "Cairo Luxor Suez",
}  # fmt: skip
ERRORS = {"careful": 0.15, "hasty": 0.4}


@register_model("scripted")
class Scripted(LM):
    """Knows the answers, and errs where a digest says so."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.asked = name, 0

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):  # noqa: ARG003 - the harness's signature
        """Make the model whose name follows ``pretrained=``."""
        return cls(arg_string.split("=")[1])

    @classmethod
    def create_from_arg_obj(cls, arguments, additional_config=None):  # noqa: ARG003 - likewise
        """Make the model of that name."""
        return cls(arguments["pretrained"])

    def chance(self, text: str) -> float:
        """Return a number in [0, 1) that the model and a text decide."""
        return int(hashlib.sha256(f"{self.name} {text}".encode()).hexdigest()[:8], 16) / 16**8

    def loglikelihood(self, requests, disable_tqdm=False):
        """Prefer the right continuation, unless this prompt is one of those where the model errs."""
        found = []
        for request in requests:
            prompt, answer = request.args
            wrong = self.chance(prompt) < ERRORS[self.name]
            found.append(
                (-0.2 - 2 * self.chance(prompt + answer) - 3 * (right(prompt, answer) == wrong), False)
            )
        return found

    def generate_until(self, requests, disable_tqdm=False):
        """Add, wrongly now and then: each sample by itself."""
        found = []
        for request in requests:
            first, second = (int(word) for word in request.args[0].rstrip(" =").split("+"))
            self.asked += 1
            wrong = self.chance(f"{request.args[0]} {self.asked}") < ERRORS[self.name]
            found.append(f" {first + second + wrong}")
        return found

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        """No task asks for it."""
        raise NotImplementedError


def right(prompt: str, answer: str) -> bool:
    """Say whether a continuation is the right one."""
    if prompt.startswith("Is "):
        return (answer.strip() == "yes") == (int(prompt.split()[1]) % 2 == 0)
    country = prompt.split("capital of ")[1].split("?")[0]
    return COUNTRIES[country].split()[0] == answer.strip()


def write_tasks() -> None:
    """Write the tasks into the current folder."""
    for name, text in (("capitals", CAPITALS), ("even", EVEN), ("sums", SUMS)):
        Path(f"{name}.yaml").write_text(text)
    Path("scoring.py").write_text(SCORING)
    capitals = []
    for place, (country, towns) in enumerate(COUNTRIES.items()):
        first, *others = towns.split()
        choices = [*others]
        choices.insert(place % 3, first)
        capitals.append({"country": country, "choices": choices, "answer": place % 3})
    rows = {
        "capitals": capitals,
        "even": [{"number": n * n // 3 + n} for n in range(24)],
        "sums": [{"a": n, "b": n * n % 7} for n in range(8)],
    }
    for name, docs in rows.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))


def main() -> None:
    """Evaluate both models, and keep what the harness writes."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": folder}
        os.chdir(folder)
        write_tasks()
        aggregates = {}
        for model in ERRORS:
            tracker = EvaluationTracker(output_path=str(OUTPUT))
            results = lm_eval.simple_evaluate(
                model="scripted",
                model_args=f"pretrained={model}",
                tasks=["capitals", "even", "sums"],
                task_manager=TaskManager(include_path=folder),
                evaluation_tracker=tracker,
                log_samples=True,
                bootstrap_iters=0,
            )
            samples = results.pop("samples")
            tracker.save_results_aggregated(results=results, samples=samples)
            for task in results["configs"]:
                tracker.save_results_samples(task_name=task, samples=samples[task])
            aggregates[model] = results["results"]
            for written in (OUTPUT / model).glob("results_*.json"):
                written.unlink()  # it names folders of this machine
        (OUTPUT / "aggregates.json").write_text(json.dumps(aggregates, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
