# Everything runs in .venv, made at the first call; the agents' programs that
# the end-to-end tests drive are installed by tests/agents/install, the libraries
# of the client in Node by tests/interop/node/install, the identity provider by tests/provider/install,
# what drives a browser by tests/browser/install, agent frameworks, which only test-all runs, by
# tests/interop/frameworks/install.
PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each of the workers compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run demo demo-web demo-team test test-fast test-all outside slowest check pictures proto baseline e2e conformance agreement bench bench-smallest fuzz running packages release lock soak cluster-soak cluster-failover soundness agents frameworks clean
.DEFAULT_GOAL := help

help: ## show this
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: $(VENV)/installed ## open the desk and a server, from these sources
	@crabhook serve

demo: $(VENV)/installed ## see the main job: a scripted agent asks, you decide
	@crabhook demo

demo-web: $(VENV)/installed ## decide on a page in your browser, by a passkey
	@crabhook demo --web

demo-team: $(VENV)/installed ## see two people at desks of their own decide, in tmux
	@crabhook demo --team

# Servers, hooks and agents are waited for more than worked on: two tests a core.
CORES := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
# Not copies of one process on macOS: its own libraries do not stand a fork.
WORKERS := $(if $(filter Darwin,$(shell uname)),--dist worksteal --numprocesses,--copies)
SIDE_BY_SIDE := $(WORKERS) $(shell expr 2 \* $(CORES))

test: $(VENV)/developed agents ## run all but the long tests, with a session of each real agent but OpenCode
	@pytest $(SIDE_BY_SIDE) -m "not thorough"

FLOORS := model platforms policy broker rulebook store ui
test-fast: $(VENV)/developed ## run the floors' tests that start no process: under a minute
	@pytest $(WORKERS) $(CORES) -m "not (process or e2e or slow or thorough)" $(FLOORS:%=tests/unit/%)

test-all: $(VENV)/developed agents frameworks ## run every test, on every example of each property
	@pytest $(SIDE_BY_SIDE) --hypothesis-profile=night

OUTSIDE := tests/browser tests/e2e/test_outside_judges.py tests/interop/test_frameworks.py
outside: $(VENV)/developed agents frameworks ## run what other people's programs judge: browsers, push, probes, frameworks
	@pytest $(SIDE_BY_SIDE) -m thorough $(OUTSIDE)

slowest: $(VENV)/developed agents ## run make test and print its 25 slowest tests
	@pytest $(SIDE_BY_SIDE) -m "not thorough" --durations=25

e2e: $(VENV)/developed agents ## run only the tests with the real agents
	@pytest $(SIDE_BY_SIDE) tests/e2e

check: $(VENV)/developed ## lint, types, plain English, subjects of commits, generated code, the wire against its baseline, import contracts
	@ruff check .
	@ruff format --check .
	@mypy
	@lint-imports --no-cache
	@python -m tests.prose
	@sh .ci/commits
	@buf lint
	@buf breaking --against proto/baseline.binpb
	@sh proto/check-generated

proto: $(VENV)/developed ## write the generated code anew
	@buf generate

baseline: $(VENV)/developed ## keep the wire and the program of COMMIT, which today's must understand
	@sh tests/older/keep $(or $(COMMIT),HEAD)

conformance: $(VENV)/developed agents ## try every decision on the real agents, and compare what comes of it (KEEP=1 keeps that)
	@python -m tests.conformance.sessions $(if $(KEEP),--keep)
	@python -m tests.conformance

agreement: $(VENV)/developed agents ## compare our rules with the real agent's, keep and print both verdicts
	@python -m tests.agreement

bench: $(VENV)/developed ## measure all that waits for us, and print the tables
	@python -m bench

bench-smallest: $(VENV)/developed ## see that every section of the bench ends, in its smallest size
	@CRABHOOK_BENCH=smallest python -m bench

fuzz: $(VENV)/developed ## fuzz each boundary for MINUTES=5, or one: TARGET=shell_line
	@python -m pip install --quiet --group fuzz
	@python -m tests.fuzz --minutes $(or $(MINUTES),5) $(if $(TARGET),--target $(TARGET))
	@$(if $(TARGET),true,python -m tests.fuzz.running --minutes $(or $(MINUTES),5) --seed $$(date +%s))

running: $(VENV)/developed ## make shell lines for MINUTES=1 from a SEED, and run in a cage what rules allow of them
	@python -m tests.fuzz.running --minutes $(or $(MINUTES),1) $(if $(SEED),--seed $(SEED))

packages: $(VENV)/developed ## build wheel and sdist, install them with pip, pipx and uv on every Python here, and try them
	@python -m tests.packages

release: $(VENV)/developed ## write CHANGELOG.md and the version of VERSION=1.2.3, build and try its packages
	@sh .ci/release "$(VERSION)"

lock: $(VENV)/developed ## write constraints.txt anew: the versions that we work and test with
	@uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras --group dev --no-emit-index-url --no-annotate --custom-compile-command 'make lock' pyproject.toml --output-file constraints.txt

pictures: $(VENV)/developed ## play the demo and make the pictures of README.md from it
	@python -m tests.docs.picture
	@python -m tests.docs.phone_picture

soak: $(VENV)/developed ## break everything for MINUTES=10, drawn from a SEED, and judge what came of it
	@python -m tests.soak --minutes $(or $(MINUTES),10) $(if $(SEED),--seed $(SEED))

cluster-soak: $(VENV)/developed ## break two servers over one PostgreSQL for MINUTES=2, drawn from a SEED, and judge
	@python -m tests.soak.cluster --minutes $(or $(MINUTES),2) $(if $(SEED),--seed $(SEED))

cluster-failover: $(VENV)/developed ## end a leader ROUNDS=10 times by kill -9 and by a cut; print how long nobody decides
	@python -m tests.soak.cluster --failover $(or $(ROUNDS),10)

soundness: $(VENV)/developed agents ## print what an attack once found, and run the tests that hold each point
	@python -m tests.soundness

agents:
	@sh tests/agents/install
	@sh tests/interop/node/install
	@sh tests/provider/install
	@sh tests/browser/install

frameworks:
	@sh tests/interop/frameworks/install

clean: ## remove what make has made
	rm -rf $(VENV) tests/agents/node_modules tests/browser/node_modules tests/interop/node/node_modules tests/provider/node_modules tests/interop/frameworks/.venv

# A new pip first: the one that comes with older Pythons knows no groups.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "crabhook needs Python 3.11 or newer: make PYTHON=python3.12")'
	@echo "setting up (once): a Python environment in $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)
	@python -m pip install --quiet --upgrade pip

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "setting up (once): crabhook and what it needs, into $(VENV)" >&2
	@python -m pip install --quiet --constraint constraints.txt --editable '.[serve,web]'
	@touch $@

$(VENV)/developed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "setting up (once): crabhook and the tools to work on it, into $(VENV)" >&2
	@python -m pip install --quiet --constraint constraints.txt --editable '.[serve,cluster,oidc,web]' --group dev
	@touch $@ $(VENV)/installed
