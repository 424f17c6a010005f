#!/bin/bash
# make-venv.sh PYTHON: make .venv in the checkout with every pinned requirement and evalreport itself, editable.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "evalreport needs Python 3.11 or newer, and '$python' is not one." >&2
    echo "On Debian: apt-get install python3 python3-venv; or name another: make PYTHON=/path/to/python3.11" >&2
    exit 2
fi

# A .venv whose interpreter is gone (the checkout was moved, Python was upgraded) is of no use.
if [ -e .venv ] && ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "The .venv here does not run (any more); making it anew." >&2
    rm -rf .venv
fi
if [ ! -e .venv ]; then
    # Debian ships Python without ensurepip; a virtual environment cannot be made without it.
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        scripts/debian-packages.sh venv "$version"
    fi
    echo "Making .venv with $("$python" --version) ..." >&2
    "$python" -m venv .venv
fi

echo "Installing the pinned requirements (a minute the first time) ..." >&2
.venv/bin/python -m pip install --quiet --require-hashes -r requirements/run.txt -r requirements/dev.txt
# Without isolation the build backend is the pinned one of .venv, and no network is needed.
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
