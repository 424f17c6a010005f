#!/bin/bash
# check-wheel.sh: the built wheel, installed outside the checkout in each of the documented ways, makes a report.
# Catches what an editable install hides: files that are not in the wheel, paths that only the checkout has.
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$PWD
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

echo "wheel-check: building" >&2
.venv/bin/python -m build --no-isolation --outdir "$place/dist" . >"$place/build.log" 2>&1 ||
    { cat "$place/build.log" >&2; exit 1; }
wheel=$(echo "$place"/dist/evalreport-*.whl)

echo "wheel-check: installing ${wheel##*/} with the pinned requirements" >&2
.venv/bin/python -m venv "$place/venv"
scripts/install-pinned.sh "$place/venv" requirements/run.txt
"$place/venv/bin/python" -m pip install --quiet --no-deps --no-index "$wheel"
"$place/venv/bin/python" -m pip check

# From here on nothing may come from the checkout.
mkdir "$place/elsewhere"
cp -r examples/credit-default/. "$place/elsewhere"
cd "$place/elsewhere"
case $("$place/venv/bin/python" -c 'import evalreport; print(evalreport.__file__)') in
"$checkout"/*) echo "wheel-check: evalreport was imported from the checkout" >&2; exit 1 ;;
esac
version=$("$place/venv/bin/evalreport" --version)
echo "$version"
case $wheel in
*/evalreport-"${version##* }"-*) ;;
*) echo "wheel-check: ${wheel##*/} says that it is $version" >&2; exit 1 ;;
esac
mkdir "$place/empty"
(cd "$place/empty" && "$place/venv/bin/evalreport" demo 2>/dev/null | tee "$place/said")
[ "$(wc -l <"$place/said")" = 3 ] && [ -s "$place/empty/evalreport-demo/report/report.html" ] ||
    { echo "wheel-check: evalreport demo made no report" >&2; exit 1; }
# PDF is named, so a PDF that cannot be made is an error (exit 4), not a warning.
"$place/venv/bin/evalreport" run models --format html,pdf,json,md --output out
for made in report.html report.pdf results.json summary.md; do
    [ -s "out/$made" ] || { echo "wheel-check: out/$made is missing or empty" >&2; exit 1; }
done
[ "$(head -c 5 out/report.pdf)" = "%PDF-" ] || { echo "wheel-check: report.pdf is no PDF" >&2; exit 1; }
# The other ways to install it (docs/how-to/install.md), with the pinned versions: what is tried is the way, not today's index.
grep -oh '^[a-z0-9.-]*==[^ ]*' "$checkout"/requirements/{core,build}.txt | sort -u >"$place/constraints"
export PIP_CONSTRAINT=$place/constraints UV_CONSTRAINT=$place/constraints UV_BUILD_CONSTRAINT=$place/constraints
export PIP_NO_COMPILE=1 # of each installation one run is made: it compiles what it imports
export PIPX_HOME=$place/pipx PIPX_BIN_DIR=$place/pipx/bin UV_TOOL_DIR=$place/tools PIPX_DEFAULT_BACKEND=pip

makes_the_demo() { # NAME COMMAND...: without a file of one's own
    local name=$1
    shift
    echo "wheel-check: demo, $name" >&2
    "$@" demo -o "demo by $name" >"$place/log" 2>&1 && [ -s "demo by $name/report/report.html" ] ||
        { cat "$place/log" >&2; exit 1; }
}

makes_a_report() { # NAME COMMAND...: the command runs evalreport
    local name=$1
    shift
    echo "wheel-check: $name" >&2
    "$@" run models --quiet --resamples 50 -f html -o "by $name" >"$place/log" 2>&1 &&
        [ -s "by $name/report.html" ] || { cat "$place/log" >&2; exit 1; }
}

"$checkout/.venv/bin/python" -m venv "$place/plain"
"$place/plain/bin/python" -m pip install --quiet "$checkout"
makes_a_report "pip install ." "$place/plain/bin/evalreport"
"$checkout/.venv/bin/pipx" install --quiet "$wheel"
makes_a_report "pipx" "$place/pipx/bin/evalreport"
makes_the_demo "pipx" "$place/pipx/bin/evalreport"
uv=$checkout/.venv/bin/uv
if [ -x "$uv" ]; then
    makes_the_demo "uv tool run" "$uv" tool run --quiet --from "$wheel" evalreport
    makes_the_demo "uv tool run, clone" "$uv" tool run --quiet --from "$checkout" evalreport
    if [ -e "$checkout/.git" ]; then
        makes_a_report "uv tool run, git" "$uv" tool run --quiet --from "git+file://$checkout" evalreport
    else
        makes_a_report "uv tool run, wheel" "$uv" tool run --quiet --from "$wheel" evalreport
    fi
else
    echo "wheel-check: uv was not to be had, so uv tool run is not tried" >&2
fi
echo "wheel-check: the wheel makes a report, however it is installed" >&2
