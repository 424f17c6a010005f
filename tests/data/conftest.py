"""What pytest leaves out: the scripts that made data need the tools whose files these are."""

collect_ignore_glob = ["imports/make_*.py", "tools/make_*.py"]
