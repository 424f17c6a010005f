# evalreport: everything a developer types. `make help` lists the targets.
#
# From nothing but Debian, make and Python 3.11: `make demo` and `make test` set up what they need, once.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# The interpreter that makes .venv, and the number of test processes; both can be set from outside.
PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3.11)
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)

BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# The arrays of the tests are small: more threads a process only get in each other's way.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Tests start the program some hundred times: compiled anew, each start takes a second more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test meaning test-slow test-system test-headline test-bounds check static tests env libraries docs golden screenshots pictures lock wheel-check \
        study study-mutations campaign bench peers clean distclean dist site figures owner

# What a reviewer runs: reference values of R, traps, properties, headlines, and the tests that name a forgotten step.
MEANING := tests/reference tests/traps tests/properties tests/headline tests/questions/test_rooms.py tests/samplings/test_sampling.py \
           tests/test_registry.py tests/test_extensions.py tests/test_options.py tests/documents/test_warnings.py tests/warnings/test_checks.py

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' Makefile

# Files with tests of a kind: collecting all others takes each process 20 seconds.
SYSTEM = $(sort $(shell grep -rl --include='test_*.py' 'mark\.system' tests))
SLOW = $(sort $(shell grep -rlE --include='test_*.py' 'mark\.slow|samples\.cases|^ *@given' tests))

demo: .venv/.core libraries ## set up what a run needs, then make an example and its report in evalreport-demo/
	$(BIN)/evalreport demo

test: check ## set up, then every quick test (nine thousand, in minutes) and the static checks

test-system: env ## a real browser, PDF tools, a Dask cluster, killed processes, the documentation followed in a shell
	@scripts/debian-packages.sh system
	$(BIN)/python -m pytest $(SYSTEM) -m "system and not slow and not machines" --numprocesses $(JOBS) --dist loadfile

test-slow: env ## tests of half a second or more, of the system half a minute, the other cases of many tests, a hundred draws of drawn data
	@scripts/debian-packages.sh system
	$(BIN)/python -m pytest $(SLOW) -m "not machines and (slow or hypothesis and not system)" --hypothesis-profile thorough \
	    --numprocesses $(JOBS) --dist worksteal

test-machines: env .cache/spark/.installed .cache/s3/.installed .cache/mlflow/.installed ## the tests that set up a bare Debian, the action, Spark, an S3 server
	@scripts/debian-packages.sh system
	PYTHONPATH=$(CURDIR)/.cache/s3 $(BIN)/python -m pytest tests/sources/test_addresses.py
	PYTHONPATH=$(CURDIR)/.cache/mlflow $(BIN)/python -m pytest tests/imports
	PYTHONPATH=$(CURDIR)/.cache/spark $(BIN)/python -m pytest tests/system -m machines

meaning: env ## do the numbers and sentences mean what they say? R's values, traps, properties, headlines, forgotten steps
	$(BIN)/python -m pytest --quiet --numprocesses $(JOBS) --dist worksteal -m "not slow and not system" $(MEANING)

test-headline: env ## make 110 situations whose truth is known, and hold their first sentences against what they must say
	$(BIN)/python tests/headline/check.py --md tests/headline/result.md --store tests/headline/records.json.xz

test-portable: env ## quick tests without the names that only POSIX systems have: no fcntl, fork, resource, renameat2 ...
	$(BIN)/python -X warn_default_encoding -m pytest -p tests.portable.without_posix -m "not system and not slow" \
	    -W error::EncodingWarning:evalreport --numprocesses $(JOBS) --dist worksteal

test-bounds: ## quick tests with the lowest versions of every requirement, and with Python 3.12 to 3.14; warnings are errors
	@scripts/test-bounds.sh

check: env libraries ## format, lint, types, the import rule, tests, doctests, README blocks; types are checked beside the tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=line static tests

static: env ## the part of check without tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 evalreport scripts research # every text file's encoding is named
	$(BIN)/mypy
	$(BIN)/python scripts/check_imports.py
	$(BIN)/python scripts/write_reference.py --check
	$(BIN)/python scripts/write_figures.py --check

tests: env ## the part of check that runs the tests, in JOBS processes
	$(BIN)/python -m pytest --ignore tests/system --numprocesses $(JOBS) --dist worksteal

wheel-check: env libraries ## build the wheel, install it in each of the documented ways, make a report with it
	@scripts/check-wheel.sh

dist: env .cache/release/.installed ## build what a release consists of, and the list of what it requires (SBOM), into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	PYTHONPATH=.cache/release $(BIN)/python -m twine check --strict dist/*
	PYTHONPATH=.cache/release $(BIN)/python -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible \
	    --output-file dist/sbom.cdx.json requirements/core.txt
	@ls -l dist

study-%: env # one study by its name, as in study-coverage; `python -m research.studies --help` lists them
	nice $(BIN)/python -m research.studies $* $(if $(SEED),--seed $(SEED))

study: ## how to measure anew: make study-coverage, study-tests, study-confirm SEED=n ... (research/README.md)
	@sed -n 's/^| `make \(study-[a-z-]*\).*/make \1/p' research/README.md

campaign: env ## attack the program for hours: kills, wrong input, full disks, hostile names; writes docs/reliability.*
	@scripts/debian-packages.sh system
	$(BIN)/python -m research.campaign $(if $(PART),--part $(PART)) $(if $(SEED),--seed $(SEED))

study-mutations: env .cache/mutations/.installed ## change the code in one place after the other, for an hour; writes docs/mutations.md
	PYTHONPATH=.cache/mutations $(BIN)/python -m research.studies.mutations

bench: env peers ## measure the speed against other programs; writes docs/benchmarks* (QUICK=1: small, printed only)
	PYTHONPATH=.cache/peers $(BIN)/python -m research.benchmarks $(if $(QUICK),--quick)

peers: .cache/peers/.installed ## fetch the programs that bench compares with, into .cache/peers

docs: env ## write what follows from declarations: reference, keywords, schema, formats, warnings
	$(BIN)/python scripts/write_reference.py

site: env libraries .cache/site/.installed ## write the documentation site to build/site; a link that leads nowhere is an error
	PYTHONPATH=$(CURDIR)/.cache/site $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees -c docs . build/site
	@echo "build/site/index.html"

owner: ## write the account that hosts the repository into every file that names it: make owner OWNER=account
	@test -n "$(OWNER)" || { echo "who hosts it? make owner OWNER=account" >&2; exit 2; }
	git ls-files -z docs integrations packaging pyproject.toml CITATION.cff .pre-commit-hooks.yaml | xargs -0 sed -i -E 's,(github.com/|uses: |https://)OWNER([/.]),\1$(OWNER)\2,g'

figures: env ## write the measured figures of README.md and the tables of docs/*.md from what the studies left
	$(BIN)/python scripts/write_figures.py
	$(BIN)/python -m research.studies pages

golden: env ## write the golden reports of tests/report anew; read the difference before it is committed
	$(BIN)/python scripts/golden_reports.py
	UPDATE=1 $(BIN)/python -m pytest -q -n 0 tests/report/test_outline.py

screenshots: env ## write docs/screenshots from the examples' reports; needs chromium and poppler-utils
	$(BIN)/python scripts/screenshots.py

pictures: env ## draw every page of every example's report into .cache/pictures, to be looked at
	$(BIN)/python scripts/screenshots.py --all .cache/pictures

lock: env ## resolve requirements/*.txt anew, with hashes
	@scripts/lock-requirements.sh

clean: ## remove what the targets made, except .venv
	rm -rf evalreport-out dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./.venv -prune -o -type d -name __pycache__ -print0 | xargs -0 -r rm -rf

distclean: clean ## clean, and remove .venv and downloaded tools
	rm -rf .venv .cache

# --- setting up -------------------------------------------------------------------------------------------

env: .venv/.installed ## make .venv with every extra and what development needs

# A stamp is written last, so an interrupted set-up is taken up again where it stopped. What is already
# installed is not fetched again: the second run needs no network.
.venv/.installed: requirements/run.txt requirements/dev.txt requirements/uv.txt pyproject.toml scripts/make-venv.sh \
                   scripts/install-pinned.sh
	@scripts/make-venv.sh "$(PYTHON)" all
	@touch .venv/.core $@

.venv/.core: requirements/core.txt requirements/build.txt requirements/uv.txt pyproject.toml scripts/make-venv.sh scripts/install-pinned.sh
	@scripts/make-venv.sh "$(PYTHON)" core
	@touch $@

# What only the benchmarks compare with, and Spark, stand apart: their requirements would move the pinned ones.
.cache/%/.installed: requirements/%.txt | env
	@rm -rf .cache/$*
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-build-isolation --target .cache/$* -r $<
	@touch $@

libraries: ## install the system's libraries that the PDF needs, where this user may
	@scripts/debian-packages.sh pdf
