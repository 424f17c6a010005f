#!/bin/bash
# check-wheel.sh: the built wheel, installed outside the checkout, makes a report.
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
"$place/venv/bin/python" -m pip install --quiet --require-hashes -r requirements/run.txt
"$place/venv/bin/python" -m pip install --quiet --no-deps --no-index "$wheel"
"$place/venv/bin/python" -m pip check

# From here on nothing may come from the checkout.
mkdir "$place/elsewhere"
cp -r examples/credit-default/. "$place/elsewhere"
cd "$place/elsewhere"
case $("$place/venv/bin/python" -c 'import evalreport; print(evalreport.__file__)') in
"$checkout"/*) echo "wheel-check: evalreport was imported from the checkout" >&2; exit 1 ;;
esac
"$place/venv/bin/evalreport" --version
# PDF is named, so a PDF that cannot be made is an error (exit 4), not a warning.
"$place/venv/bin/evalreport" run models --format html,pdf,json,md --output out
for made in report.html report.pdf results.json summary.md; do
    [ -s "out/$made" ] || { echo "wheel-check: out/$made is missing or empty" >&2; exit 1; }
done
[ "$(head -c 5 out/report.pdf)" = "%PDF-" ] || { echo "wheel-check: report.pdf is no PDF" >&2; exit 1; }
echo "wheel-check: the wheel makes a report" >&2
