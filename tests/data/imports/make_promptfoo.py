"""Write promptfoo/: results as promptfoo itself writes them, of two scripted providers.

Needs Node; give the program's path: ``npm install promptfoo@0.119.14``, then
``python make_promptfoo.py node_modules/.bin/promptfoo``. One evaluation asks every question twice (--repeat 2), one
has two prompts; the provider ``small`` fails on one question.
"""

from __future__ import annotations

import json
import os
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


def main(program: str) -> None:
    """Write both evaluations."""
    program = str(Path(program).resolve())
    shutil.rmtree(OUTPUT, ignore_errors=True)
    OUTPUT.mkdir()
    runs = {
        "repeated": (["Add: {{question}}"], "2"),
        "prompts": (["Add: {{question}}", "Sum: {{question}}"], "1"),
    }
    for name, (prompts, repeat) in runs.items():
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "provider.js").write_text(PROVIDER, encoding="utf-8")
            Path(folder, "config.json").write_text(json.dumps(configuration(prompts)), encoding="utf-8")
            words = ["eval", "-c", "config.json", "-o", "results.json", "--repeat", repeat, "-j", "1"]
            quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
            environment = os.environ | quiet | {"PROMPTFOO_CONFIG_DIR": f"{folder}/home"}
            # It exits with 100 where a test failed.
            subprocess.run(
                [program, *words, "--no-cache", "--no-table"], cwd=folder, env=environment, check=False
            )
            shutil.copyfile(Path(folder, "results.json"), OUTPUT / f"{name}.json")


if __name__ == "__main__":
    main(sys.argv[1])
