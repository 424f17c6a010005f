#!/bin/sh
# Replays twelve weeks of audits in less than a minute: replay.sh [OUT]. What a scheduler would run once a week runs here
# thirteen times, with --time in the place of the calendar. The exit codes are those that the scheduler would see.
# After week 08 somebody accepts the good weeks together: what the alarm compares later weeks with.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${1:-evalreport-out/nightly-audit}
python=${PYTHON:-"$here/../../.venv/bin/python"}
mkdir -p "$out"

for week in 00 01 02 03 04 05 06 07 08 09 10 11 12; do
    # Mondays, from 2 September 2024 on.
    time=$(date -u -d "2024-09-02 $((${week#0} * 7)) days" +%Y-%m-%dT02:15:00Z)
    code=0
    "$python" -m evalreport audit "$here/predictions/week-$week" --config "$here/evalreport.toml" \
        --history "sqlite:///$out/audits.db" --time "$time" -o "$out/reports/week-$week" \
        --title "Scanned digits, week $week" --junit "$out/reports/week-$week/gates.xml" \
        --quiet || code=$?
    echo "week $week, $time: exit code $code"
    if [ "$week" = 08 ]; then
        "$python" -m evalreport history accept 1 2 3 4 5 6 7 8 9 --history "sqlite:///$out/audits.db" \
            --note "the release and eight good weeks"
    fi
done
"$python" -m evalreport history site "$out/site" --history "sqlite:///$out/audits.db" --reports "$out/reports"
