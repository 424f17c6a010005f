"""Write promptfoo/: results as promptfoo itself writes them, of two scripted providers.

Needs Node; give the program's path: ``npm install promptfoo@0.119.14``, then
``python make_promptfoo.py node_modules/.bin/promptfoo``. One evaluation asks every question twice (--repeat 2), one
has two prompts; the provider ``small`` fails on one question. ``costs.json`` (written by 0.123.1) is of one provider
with two configurations and no label, which says tokens and costs; a model grades each answer, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OUTPUT = Path(__file__).resolve().parent / "promptfoo"
PROVIDER = """
const crypto = require("crypto");
module.exports = class {
  constructor(options) { this.config = options.config; this.asked = {}; }
  id() { return this.config.model; }
  async callApi(prompt) {
    const question = prompt.split(": ").pop();
    const [a, b] = question.split(" + ").map(Number);
    this.asked[question] = (this.asked[question] || 0) + 1;
    if (question === "3 + 2" && this.config.model === "small") return { error: "rate limit" };
    const text = [this.config.model, question, this.asked[question]].join(" ");
    const draw = parseInt(crypto.createHash("sha256").update(text).digest("hex").slice(0, 8), 16) / 2 ** 32;
    return { output: String(a + b + (draw < this.config.error ? 1 : 0)) };
  }
};
"""


def configuration(prompts: list[str]) -> dict[str, object]:
    """Return eight sums, two assertions each."""
    exact = {"type": "equals", "value": "{{answer}}", "metric": "exact"}
    brief = {"type": "javascript", "value": "output.length < 2", "metric": "brief", "weight": 0}
    tests = [
        {
            "vars": {"question": f"{n} + {n * n % 7}", "answer": str(n + n * n % 7)},
            "metadata": {"topic": f"topic {n // 3}"},
            "assert": [exact, brief],
        }
        for n in range(8)
    ]
    models = [{"model": "large", "error": 0.15}, {"model": "small", "error": 0.4}]
    providers = [{"id": "file://provider.js", "label": one["model"], "config": one} for one in models]
    return {"prompts": prompts, "providers": providers, "tests": tests}


PRICED = """
const crypto = require("crypto");
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
module.exports = class {
  constructor(options) { this.config = options.config; }
  id() { return "scripted:sums"; }
  async callApi(prompt) {
    if (prompt.includes("Graded answer")) {
      const usage = { total: 5100, prompt: 5000, completion: 100 };
      const output = JSON.stringify({ pass: true, score: 1, reason: "brief" });
      return { output, cost: 0.054, tokenUsage: usage };
    }
    const { price, error } = this.config;
    const question = prompt.split(": ").pop();
    const [a, b] = question.split(" + ").map(Number);
    if (question === "3 + 2" && price < 1) return { error: "429 Too many requests" };
    await sleep(20 * (a + 1));
    const text = [price, question].join(" ");
    const draw = parseInt(crypto.createHash("sha256").update(text).digest("hex").slice(0, 8), 16) / 2 ** 32;
    const output = String(a + b + (draw < error ? 1 : 0));
    const usage = { total: 120 + 10 * a, prompt: 100 + 10 * a, completion: 20, numRequests: 1 };
    return { output, cost: price * (180 + 10 * a) / 1e6, tokenUsage: usage };
  }
};
"""
"""100 + 10 n tokens of the question and 20 of the answer, at four times the price."""


def priced() -> dict[str, object]:
    """Return eight sums, asked of one provider with two configurations."""
    tests = [
        {
            "vars": {"question": f"{n} + {n * n % 7}", "answer": str(n + n * n % 7)},
            "metadata": {"topic": f"topic {n // 3}"},
            "assert": [
                {"type": "equals", "value": "{{answer}}"},
                {"type": "llm-rubric", "value": "Graded answer: brief", "provider": "file://provider.js"},
            ],
        }
        for n in range(8)
    ]
    configurations = [{"price": 3, "error": 0.15}, {"price": 0.25, "error": 0.4}]
    providers = [{"id": "file://provider.js", "config": one} for one in configurations]
    return {"prompts": ["Add: {{question}}"], "providers": providers, "tests": tests}


def main(program: str) -> None:
    """Write the evaluations."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    write(
        program,
        {
            "repeated": (PROVIDER, configuration(["Add: {{question}}"]), "2"),
            "prompts": (PROVIDER, configuration(["Add: {{question}}", "Sum: {{question}}"]), "1"),
            "costs": (PRICED, priced(), "1"),
        },
    )


def write(program: str, runs: dict[str, tuple[str, dict[str, object], str]]) -> None:
    """Write evaluations: of a provider's program, a configuration and a number of repeats each."""
    program = str(Path(program).resolve())
    for name, (provider, config, repeat) in runs.items():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "provider.js").write_text(provider, encoding="utf-8")
            Path(folder, "config.json").write_text(json.dumps(config), encoding="utf-8")
            words = ["eval", "-c", "config.json", "-o", "results.json", "--repeat", repeat, "-j", "1"]
            quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
            environment = os.environ | quiet | {"PROMPTFOO_CONFIG_DIR": f"{folder}/home"}
            # It exits with 100 where a test failed.
            subprocess.run(
                [program, *words, "--no-cache", "--no-table"], cwd=folder, env=environment, check=False
            )
            text = Path(folder, "results.json").read_text(encoding="utf-8")
            text = re.sub(
                r"file:///[^)\s]*/node_modules/", "file:///node_modules/", text
            )  # no folder of this machine
            (OUTPUT / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
