"""Tests of what reviews and schedules see: JUnit files, comments, the page over time, the nightly example."""
