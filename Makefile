# Everything a developer runs. The first command of a fresh clone makes .venv, installs and builds; the rest reuse it.
#   make test       install, build, run the fast tests        make types   regenerate the stub, mypy --strict
#   make demo       the demo on a real model                  make lint    ruff check and ruff format --check
#   make test-all   the slow tests too                        make bench   measurements beside installed peers
#   make wheel      dist/*.whl                                make clean   remove build outputs (keeps .venv)
#   make engines   the adapters for SGLang and ONNX Runtime GenAI against their own classes
#   make llama      the adapter for llama-cpp-python with the package itself, which it compiles
#   make asan       fuzz the native core under AddressSanitizer and UBSan       make tsan   threads under ThreadSanitizer
# Settings: PYTHON=python3.12  VENV=.venv  CXX=clang++  TORCH=torch==2.13.0  PYTEST_ARGS='-k regex'  MODEL=folder
#           SECONDS_EACH=10 SEED=1 of each driver of asan and tsan
#           WORKERS=0 runs the tests in one process (logical: one for each processor, at most four)

PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
WORKERS ?= logical
PYTEST_ARGS ?=
BIN := $(VENV)/bin
FOLDERS := automata constraints tokenizer_fst decode
CHECKED := $(FOLDERS) src tests examples setup.py

.DEFAULT_GOAL := help
.PHONY: help check build test test-all engines llama demo wheel types stub lint format bench asan tsan clean

help:
	@sed -n '1,/^$$/p' Makefile | sed 's/^# \{0,1\}//'

# What the build assumes, said plainly before pip hides it in a log.
define CHECK
import os, shutil, sys, sysconfig
if sys.version_info < (3, 10):
    sys.exit("tokamata needs Python 3.10 or newer; %s is %s.\nInstall one and run: make PYTHON=python3.12 ..."
             % (sys.executable, sys.version.split()[0]))
cxx = (os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++").split()[0]
if not shutil.which(cxx):
    sys.exit("tokamata needs a C++17 compiler, and %r was not found.\nInstall one (Debian or Ubuntu: apt-get install g++; "
             "Fedora: dnf install gcc-c++; macOS: xcode-select --install)\nor name yours: make CXX=clang++ ..." % cxx)
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
if not os.path.exists(header):
    sys.exit("tokamata needs Python's header files, and %s is missing.\nInstall them (Debian or Ubuntu: apt-get install "
             "python3-dev; Fedora: dnf install python3-devel)." % header)
endef
export CHECK
export CXX

check:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found; name yours: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c "$$CHECK"

# The environment: torch first, so that its pinned version is not replaced by what a dependency would choose.
$(VENV)/installed: setup.cfg pyproject.toml | check
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q 'setuptools>=77' 'nanobind>=2.9' wheel
	$(BIN)/python -m pip install -q '$(TORCH)'
	$(BIN)/python -m pip install -q --no-build-isolation -e '.[dev]'
	@touch $@

# Compiles what changed since the last time (setup.py keeps the objects in build/objects).
build: $(VENV)/installed
	@$(BIN)/python setup.py -q build_ext --inplace

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 4 --dist worksteal

test: build
	$(PYTEST) $(PYTEST_ARGS)

test-all: build
	$(PYTEST) -m "slow or not slow" $(PYTEST_ARGS)

# SGLang's interface classes, without the accelerator packages that SGLang itself asks for.
SGLANG := sglang==0.5.23
SGLANG_NEEDS := aiohttp IPython msgspec orjson partial_json_parser pybase64 pyzmq
# ONNX Runtime GenAI, and what makes a model for it.
ONNX_GENAI := onnxruntime-genai==0.18.0
engines: build
	$(BIN)/python -m pip install -q $(SGLANG_NEEDS)
	$(BIN)/python -m pip install -q '$(ONNX_GENAI); python_version >= "3.11"' onnx
	$(BIN)/python -m pip install -q --no-deps '$(SGLANG)'
	$(BIN)/python -m pytest tests/decode/engines

# llama-cpp-python: there is no wheel of it, so llama.cpp is compiled, plainly, which takes long.
LLAMA_CPP := llama-cpp-python==0.3.36
llama: build
	CMAKE_ARGS='-DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAVA_BUILD=OFF' $(BIN)/python -m pip install -q '$(LLAMA_CPP)' gguf
	$(BIN)/python -m pytest tests/decode/engines/test_llama_cpp.py

demo: build
	$(BIN)/python examples/demo.py $(if $(MODEL),--model '$(MODEL)')

wheel: build
	$(BIN)/python -m pip wheel -q --no-build-isolation --no-deps --wheel-dir dist .
	@ls dist/*.whl

# The stub of the native module comes from the module itself; a stale one is rewritten and reported.
stub: build
	@mkdir -p build/stub
	@$(BIN)/python -m nanobind.stubgen -q --include-private -m tokamata._core -o build/stub/_core.pyi
	@$(BIN)/ruff check -q --fix --select I,F401,D200 --unsafe-fixes --config ruff.toml build/stub/_core.pyi || true
	@$(BIN)/ruff format -q --config ruff.toml build/stub/_core.pyi

types: stub
	@if ! cmp -s build/stub/_core.pyi src/tokamata/_core.pyi; then \
	  cp build/stub/_core.pyi src/tokamata/_core.pyi; stale=1; fi; \
	rm -rf build/types && mkdir -p build/types/tokamata && \
	for f in src/tokamata/*; do ln -s "../../../$$f" build/types/tokamata/; done && \
	for d in $(FOLDERS); do mkdir build/types/tokamata/$$d; \
	  for f in $$d/*; do test "$$f" = $$d/csrc || ln -s "../../../../$$f" build/types/tokamata/$$d/; done; done && \
	(cd build/types && $(abspath $(BIN))/mypy --config-file ../../setup.cfg --strict -p tokamata && \
	  $(abspath $(BIN))/mypy --config-file ../../setup.cfg --strict ../../tests/typing/public_names.py) && \
	if [ -n "$$stale" ]; then echo "src/tokamata/_core.pyi was stale; it is rewritten now: commit it" >&2; exit 1; fi

lint: $(VENV)/installed
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)

format: $(VENV)/installed
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

bench: build
	$(BIN)/python examples/benchmarks/masks.py --repeat 2
	$(BIN)/python examples/benchmarks/states.py
	$(BIN)/python examples/benchmarks/first_mask.py --repeat 2
	$(BIN)/python examples/benchmarks/json_schema.py --repeat 2
	$(BIN)/python examples/benchmarks/batch.py
	$(BIN)/python examples/benchmarks/grammar.py
	$(BIN)/python examples/benchmarks/chat.py
	$(BIN)/python examples/benchmarks/python_types.py
	$(BIN)/python examples/benchmarks/algebra.py
	$(BIN)/python examples/benchmarks/memory.py
	$(BIN)/python examples/benchmarks/terminals.py --repeat 2
	$(BIN)/python examples/benchmarks/canonical.py --repeat 2

# Neither needs the environment: a C++ compiler, its sanitizers, make and any Python for the Unicode tables.
asan tsan:
	@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2)) \
	  -f tests/native/Makefile SANITIZER=$@ PYTHON='$(PYTHON)' run

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache src/tokamata/_core*.so
