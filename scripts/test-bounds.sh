#!/bin/bash
# test-bounds.sh [NAME...]: quick tests at the bounds of what is promised, each in a virtual environment of its own.
# NAME is lowest (Python 3.11 and the lowest version of every requirement), 3.12, 3.13 or 3.14 (the pinned ones); default: all.
# Warnings are errors throughout. An interpreter that is not here is skipped, and that is said; one that is named must be.
set -euo pipefail
cd "$(dirname "$0")/.."

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
tests=(tests/cli tests/sources/test_formats.py tests/sources/test_frames.py
    tests/test_files.py tests/test_platform.py tests/scale/test_aggregation.py tests/imports
    tests/history/test_store.py tests/refit/test_fitting.py tests/plots/test_charts.py)

# find_python 3.12: print an interpreter of that version, from the path, pyenv or uv; nothing if there is none.
find_python() {
    local found
    for found in "$(command -v "python$1" || true)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python \
        "$(command -v uv >/dev/null && uv python find --no-python-downloads "$1" 2>/dev/null || true)"; do
        if [ -x "$found" ] && "$found" -c 'import ensurepip, venv' 2>/dev/null; then echo "$found"; return; fi
    done
}

# prepare PLACE PYTHON FILE...: make a virtual environment of hashed requirements, unless it is there as they say.
prepare() {
    local place=$1 python=$2 stamp
    shift 2
    stamp=$("$python" --version; cat "$@" | sha256sum)
    if [ "$(cat "$place/.installed" 2>/dev/null)" = "$stamp" ]; then return; fi
    rm -rf "$place"
    "$python" -m venv "$place"
    "$place/bin/python" -m pip install --quiet --require-hashes "${@/#/--requirement=}"
    echo "$stamp" >"$place/.installed"
}

failed=()
for name in "${@:-lowest 3.12 3.13 3.14}"; do for bound in $name; do
    version=$bound files=(requirements/run.txt requirements/dev.txt)
    if [ "$bound" = lowest ]; then version=3.11 files=(requirements/lowest.txt); fi
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        if [ $# -gt 0 ]; then failed+=("$bound (no Python $version)"); fi
        echo "$bound: skipped, there is no Python $version here" >&2
        continue
    fi
    echo "$bound: $("$python" --version) ..." >&2
    place=.cache/bounds/$bound
    prepare "$place" "$python" "${files[@]}"
    output=$(mktemp -d)
    "$place/bin/python" -W error -m evalreport run examples/credit-default/models --resamples 100 --quiet \
        -f html,pdf,json,md -o "$output/report" || failed+=("$bound (run)")
    "$place/bin/python" -m pytest -q -m "not system and not slow" -p no:cacheprovider "${tests[@]}" \
        || failed+=("$bound (tests)")
    rm -rf "$output"
done; done
if [ ${#failed[@]} -gt 0 ]; then echo "failed: ${failed[*]}" >&2; exit 1; fi
