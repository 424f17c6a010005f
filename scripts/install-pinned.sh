#!/bin/bash
# install-pinned.sh VENV FILE...: install requirement files with hashes into a virtual environment.
#
# uv does it, itself pinned and from the same package index; where it cannot be had or does not get through (an index or a
# proxy that only pip is set up for), pip does the same, more slowly.
set -euo pipefail
venv=$1
shift
here=$(cd "$(dirname "$0")/.." && pwd)
pip=("$venv/bin/python" -m pip)

echo "Installing $(cat "$@" | grep -c '^[a-z0-9.-]*==') pinned requirements ..." >&2
if "${pip[@]}" install --quiet --require-hashes -r "$here/requirements/uv.txt"; then
    # uv does not read pip's configuration: an index that is set there is handed on.
    index=$("${pip[@]}" config get global.index-url 2>/dev/null || true)
    [ -z "$index" ] || export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX-$index}
    "$venv/bin/uv" pip install --python "$venv/bin/python" --require-hashes "${@/#/--requirement=}" && exit
fi
echo "uv could not do it; pip takes its place." >&2
"${pip[@]}" install --require-hashes "${@/#/--requirement=}"
