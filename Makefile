# Everything runs in .venv, which is built from the two lock files and pyproject.toml and from nothing else.
# `make` alone lists the targets.

# Names of Python to try, the first that fits is taken: `make demo PYTHON=/path/to/python3.12`
PYTHON ?= python3 python3.11 python3.12 python3.13

BIN := .venv/bin
# Only wheels, so that nothing is built with tools that no lock file pins.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all:
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate $(UPGRADE)

# The tests of our own tables, and what they have to notice of the mistakes that could stand there.
TABLE_TESTS := $(BIN)/pytest -q tests/machines --ignore=tests/machines/agent --ignore=tests/machines/cli \
	--ignore=tests/machines/ledger --ignore=tests/machines/traces --ignore=tests/machines/durable \
	--statecraft-mutate=machines --statecraft-mutate-fail-under=95

# The stamps of a set-up that came to its end. A step takes the first one away and puts it back when it is done,
# so a set-up that was interrupted at any point starts again from nothing.
BASE := .venv/.stamp-base
PROJECT := .venv/.stamp-project
TOOLS := .venv/.stamp-tools
BUSY := .venv/.stamp-busy

.NOTPARALLEL:
.PHONY: help demo test cover mutate ci deep check lint types imports drift live bench format diagrams lock upgrade clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo: $(PROJECT) ## set up, then run an agent on a scripted model, five ways
	$(BIN)/statecraft demo

test: $(TOOLS) $(PROJECT) ## set up, then run the tests
	$(BIN)/pytest

# The tests take longest and use one core; what stands beside them takes the other. Benchmarks are alone.
ci: $(TOOLS) $(PROJECT) ## all that must pass before a change is taken: check, test, cover, live, bench
	$(MAKE) check
	@$(MAKE) test > .venv/test.log 2>&1 & tests=$$!; \
	  $(MAKE) cover live; others=$$?; wait $$tests; tested=$$?; cat .venv/test.log; exit $$((others + tested))
	$(MAKE) bench

deep: $(TOOLS) $(PROJECT) ## everything that takes long: every benchmark, every test marked deep
	$(BIN)/pytest -m "benchmark or deep"

check: lint types imports drift ## all that can be checked without running tests

lint: $(TOOLS) ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(TOOLS) $(PROJECT) ## mypy and pyright, both strict
	$(BIN)/mypy
	$(BIN)/pyright

imports: $(TOOLS) $(PROJECT) ## the arrows between the packages
	$(BIN)/lint-imports

drift: $(PROJECT) ## the committed diagrams are those of the tables
	$(BIN)/statecraft diagram --check

cover: $(TOOLS) $(PROJECT) ## every row of our own tables is taken, every guard seen both ways, mutants noticed
	$(TABLE_TESTS) --statecraft-cov=machines --statecraft-cov-fail-under=100 --statecraft-cov-guards-fail-under=100 \
	  --statecraft-mutate-sample=400

mutate: $(TOOLS) $(PROJECT) ## every small mistake in our own tables is tried: the tests have to notice
	$(TABLE_TESTS)

live: $(TOOLS) $(PROJECT) ## the agent's loop against a real model, served on this machine
	$(BIN)/pytest tests/live -m live

bench: $(TOOLS) $(PROJECT) ## the quick benchmarks
	STATECRAFT_BENCH_SLACK=2 $(BIN)/pytest tests/benchmarks -m "benchmark and not deep"

format: $(TOOLS) ## put imports and lay-out right
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

diagrams: $(PROJECT) ## draw the tables again into diagrams/
	$(BIN)/statecraft diagram

lock: $(TOOLS) ## write the lock files again, keeping each version that still fits
	@$(BIN)/python -c 'import tomllib; build = tomllib.load(open("pyproject.toml", "rb"))["build-system"]; \
	  print(*build["requires"], sep="\n")' > .venv/build.in
	@for name in requirements requirements-dev; do cp $$name.txt .venv/$$name.txt; done
	$(LOCK) pyproject.toml .venv/build.in -o .venv/requirements.txt
	$(LOCK) pyproject.toml .venv/build.in --group dev -c .venv/requirements.txt -o .venv/requirements-dev.txt
	@for name in requirements requirements-dev; do \
	  { echo '# Made by `make lock` from pyproject.toml.'; grep -v '^#' .venv/$$name.txt; } > .venv/new.txt; \
	  cmp -s .venv/new.txt $$name.txt || cp .venv/new.txt $$name.txt; \
	done

upgrade: ## the same, with the newest versions that pyproject.toml allows
	$(MAKE) lock UPGRADE=--upgrade

clean: ## take away the environment, the caches and what was built
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find statecraft machines tests -name __pycache__ -prune -exec rm -rf {} +

$(BASE): requirements.txt requirements-dev.txt
	@for name in $(PYTHON); do \
	  if $$name -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "setting up .venv with $$($$name --version)"; rm -rf .venv; exec $$name -m venv .venv; \
	  fi; \
	done; \
	echo "make: found no Python 3.11 or later that has venv and ensurepip; tried: $(PYTHON)" >&2; \
	echo "make: on Debian \`apt-get install python3 python3-venv\` brings it;" \
	  "or name one: make PYTHON=/path/to/python3" >&2; \
	exit 1
	$(INSTALL) --require-hashes -r requirements.txt
	@touch $@

$(TOOLS): $(BASE)
	@mv $(BASE) $(BUSY)
	$(INSTALL) --require-hashes -r requirements-dev.txt
	@mv $(BUSY) $(BASE) && touch $@

$(PROJECT): $(BASE) pyproject.toml
	@mv $(BASE) $(BUSY)
	$(INSTALL) --no-deps --no-index --no-build-isolation --check-build-dependencies -e .
	@$(BIN)/python -m pip check --disable-pip-version-check || \
	  { echo "make: the lock files do not fit pyproject.toml; \`make lock\` writes them again" >&2; exit 1; }
	@mv $(BUSY) $(BASE) && touch $@
