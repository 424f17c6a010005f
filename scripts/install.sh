#!/bin/bash
# install.sh VENV: make a virtual environment with evalreport of this checkout, what runs and audits need, and Debian's libraries of the
# PDF where that is allowed. From pinned and hashed requirements; for pipelines.
set -euo pipefail
venv=$1
here=$(cd "$(dirname "$0")/.." && pwd)
"$here/scripts/debian-packages.sh" pdf
"${PYTHON:-python3}" -m venv "$venv"
"$here/scripts/install-pinned.sh" "$venv" "$here/requirements/pipeline.txt" "$here/requirements/build.txt"
"$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation "$here"
