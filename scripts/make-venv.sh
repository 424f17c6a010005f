#!/bin/bash
# make-venv.sh PYTHON core|all: make .venv in the checkout, with evalreport itself, editable, and the pinned requirements:
# those of a run (core), or also every extra and what development needs (all).
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
case $2 in
core) files=(requirements/core.txt requirements/build.txt) ;;
all) files=(requirements/run.txt requirements/dev.txt) ;;
*) echo "usage: make-venv.sh PYTHON core|all" >&2; exit 2 ;;
esac

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

scripts/install-pinned.sh .venv "${files[@]}"
# Without isolation the build backend is the pinned one of .venv, and no network is needed.
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
