#!/bin/bash
# lock-requirements.sh: resolve requirements/*.txt anew: run (runtime and every extra), core (runtime alone), pipeline (runtime, history, excel), dev, spark, s3, mlflow, build,
# uv, site, release and lowest.
# Versions already pinned stay unless a bound moved; UPGRADE=1 takes the newest ones.
set -euo pipefail
cd "$(dirname "$0")/.."

options=(--quiet --generate-hashes --allow-unsafe --strip-extras --no-header --no-emit-options
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host)
if [ -n "${UPGRADE-}" ]; then options+=(--upgrade); fi

.venv/bin/pip-compile "${options[@]}" --extra all --constraint requirements/constraints.in \
    --output-file requirements/run.txt pyproject.toml
.venv/bin/pip-compile "${options[@]}" --output-file requirements/dev.txt requirements/dev.in
.venv/bin/pip-compile "${options[@]}" --constraint requirements/run.txt --output-file requirements/core.txt pyproject.toml
# What containers and pipelines need: runs, audits and workbooks, without the 750 MB of refit and dask.
.venv/bin/pip-compile "${options[@]}" --extra history --extra postgresql --extra excel --constraint requirements/run.txt \
    --output-file requirements/pipeline.txt pyproject.toml
for name in build uv site release; do
    .venv/bin/pip-compile "${options[@]}" --constraint requirements/constraints.in --constraint requirements/run.txt \
        --constraint requirements/dev.txt --output-file "requirements/$name.txt" "requirements/$name.in"
done
# Spark is 400 MB: only its system tests need it, in a folder of its own.
.venv/bin/pip-compile "${options[@]}" --output-file requirements/spark.txt requirements/spark.in
# So has the S3 server of the tests of addresses, whose requirements contradict ours.
.venv/bin/uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 \
    --output-file requirements/s3.txt requirements/s3.in
# And MLflow's client, of which a run needs nothing.
.venv/bin/uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 \
    --output-file requirements/mlflow.txt requirements/mlflow.in

# Every lower bound as a pin, with what the tests need beside them.
.venv/bin/python - <<'EOF' | cat requirements/lowest.in - |
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
print("\n".join(sorted({line.replace(">=", "==") for part in (project["dependencies"], extras["all"]) for line in part})))
EOF
    .venv/bin/pip-compile "${options[@]}" --output-file requirements/lowest.txt -

if grep -nE '(https?|file)://| @ |/(home|root|tmp|work)/' requirements/*.txt; then
    echo "A pinned file names an address or a path of this machine (above); it must not." >&2
    exit 1
fi
