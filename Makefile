# The targets of the project. Each one does all the set-up it needs on a Debian 12 machine (as root, or with sudo): system
# packages, a virtual environment in .venv, the build. What is done already is not done again.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
JOBS ?= $(shell nproc)
ARGS ?=
BUILD := build
VENV := .venv
STAMPS := $(VENV)/.stamps
NINJA := $(PYTHON) cmake/build_progress.py

PACKAGES := llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22 clang-22 libclang-rt-22-dev cmake ninja-build \
  ccache zlib1g-dev libzstd-dev libgtest-dev python3-venv python3-dev
# torch.compile, a peer in tests and benchmarks, calls g++; a test drives gdb.
PACKAGES += g++ gdb
# D3, which goes into the package and draws the tools' pages.
PAGE_PACKAGES := node-d3
# Servers and a browser that tests run against, and what one of them formats C++ with.
TEST_PACKAGES := redis-server chromium clang-format-22

say = @printf '\033[1m== %s\033[0m\n' $(1)
as_root = $(if $(filter 0,$(shell id -u)),,sudo )

.PHONY: help setup build install test test-setup test-asan test-debug test-opinfo test-math test-ptxas test-world fuzz-kernels fuzz-score soak fuzz-sources fuzz demo bench bench-compile bench-inductor bench-kernels bench-library bench-llm wheel docs site notebooks clean
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24
	@echo "ARGS='...' goes to the program behind demo, test, test-asan and test-debug (pytest), test-opinfo, test-math, test-ptxas, test-world, fuzz-kernels, fuzz-score, soak, fuzz-sources and the benches."

demo: install $(STAMPS)/torch $(STAMPS)/models ## run every example, checked and timed beside PyTorch
	$(call say,"examples")
	@$(VENV)/bin/nacre run examples/run_all.py $(ARGS)

test: test-setup ## run every test: C++ units, IR tests, Python
	$(call say,"tests")
	@tests/run $(ARGS)

test-setup: install $(STAMPS)/torch $(STAMPS)/models $(STAMPS)/operators $(STAMPS)/triton $(STAMPS)/fleet $(STAMPS)/site $(STAMPS)/typing $(STAMPS)/test-packages $(STAMPS)/world-small ## all that the tests need, without running them

test-opinfo: install $(STAMPS)/torch $(STAMPS)/operators ## every operator of PyTorch's database under torch.compile(backend="nacre") (long)
	$(call say,"operators of PyTorch")
	@$(VENV)/bin/python tests/torch/opinfo.py $(ARGS)

test-math: build ## check the math functions on all 2^32 float32 values (long)
	$(call say,"math functions")
	@$(BUILD)/compiler/targets/cpu/math_accuracy --all $(ARGS)

test-ptxas: install ## every kernel of the language tests through ptxas, for each GPU
	$(call say,"ptxas")
	@$(VENV)/bin/python tests/ptxas/ptxas_kernels.py $(ARGS)

test-world: install $(STAMPS)/torch $(STAMPS)/world ## kernels of other packages against torch on every engine (long)
	$(call say,"other people's kernels")
	@$(VENV)/bin/python tests/world/run.py $(ARGS)

fuzz-kernels: install ## run 2,000 random kernels on every engine, other ones each time
	$(call say,"random kernels")
	@$(VENV)/bin/python tests/fuzz_kernels/run.py $(ARGS)

fuzz-score: | $(STAMPS)/python ## how many of the planted compiler bugs 2,000 random kernels find (long)
	$(call say,"build with planted bugs: $(JOBS) jobs")
	@$(call beside,planted,-DNACRE_PLANTED_BUGS=ON)
	@$(NINJA) -C $(BUILD)-planted -j $(JOBS) nacre_python
	@tests/package_beside $(BUILD)-planted
	$(call say,"planted bugs")
	@PYTHONPATH=$(BUILD)-planted/package $(VENV)/bin/python tests/fuzz_kernels/score.py $(ARGS)

soak: install ## a million launches of all kinds from several threads at once, each checked (long)
	$(call say,"launches from several threads")
	@$(VENV)/bin/python tests/runtime/soak.py $(ARGS)

fuzz-sources: install ## compile thousands of mutated kernels and IR texts, other ones each time
	$(call say,"mutated sources")
	@$(VENV)/bin/python tests/mutations/run.py $(ARGS)

# Builds beside the main one, each in a folder of its own with a package of its own: $(call beside,NAME,CMAKE OPTIONS)
# The folders stand side by side, so that sources have the same relative paths in all of them: what an option does not change
# comes from ccache.
beside = cmake -G Ninja -S . -B $(BUILD)-$(1) -DCMAKE_C_COMPILER="$$(command -v clang-22)" \
	-DCMAKE_CXX_COMPILER="$$(command -v clang++-22)" -DCMAKE_PREFIX_PATH="$$(llvm-config-22 --prefix)" \
	-DPython3_EXECUTABLE="$(CURDIR)/$(VENV)/bin/python" -DNACRE_PACKAGE="$(CURDIR)/$(BUILD)-$(1)/package/nacre" $(2) > /dev/null
SANITIZED := -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DNACRE_SANITIZE=address,undefined
# What the slow builds run of pytest unless ARGS says otherwise: of each folder the first test and every 100th after it.
SAMPLE := --sample 100 tests

test-asan: test-setup ## C++ units, IR tests and every 100th Python test on a build with AddressSanitizer and UBSan (long)
	$(call say,"build with AddressSanitizer and UBSan: $(JOBS) jobs")
	@$(call beside,asan,$(SANITIZED))
	@$(NINJA) -C $(BUILD)-asan -j $(JOBS)
	@tests/run_beside $(BUILD)-asan $(or $(ARGS),$(SAMPLE))

test-debug: test-setup ## the same on an unoptimized build with every assertion, libstdc++'s too (long)
	$(call say,"debug build: $(JOBS) jobs")
	@$(call beside,debug,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -g1 -D_GLIBCXX_ASSERTIONS")
	@$(NINJA) -C $(BUILD)-debug -j $(JOBS)
	@tests/run_beside $(BUILD)-debug $(or $(ARGS),$(SAMPLE))

FUZZ_SECONDS ?= 60
fuzz: | $(STAMPS)/python ## a minute of random bytes for each parser: sources, tile IR, cache entries, PTX (FUZZ_SECONDS=60)
	$(call say,"build of the fuzzers: $(JOBS) jobs")
	@$(call beside,asan,$(SANITIZED))
	@$(NINJA) -C $(BUILD)-asan -j $(JOBS) fuzzers
	@tests/fuzzers/run $(BUILD)-asan $(FUZZ_SECONDS)

bench: install $(STAMPS)/torch $(STAMPS)/bench ## time kernels beside PyTorch and Triton's interpreter
	$(call say,"benchmarks")
	@NACRE_NUM_THREADS=2 OMP_NUM_THREADS=2 $(VENV)/bin/nacre run bench/run.py $(ARGS)
	@$(VENV)/bin/nacre run bench/kernels.py $(filter --quick --write,$(ARGS))

bench-kernels: install $(STAMPS)/torch ## kernels of every kind beside PyTorch, and what compiling them costs
	$(call say,"benchmarks of kernels")
	@$(VENV)/bin/nacre run bench/kernels.py $(ARGS)

bench-library: install $(STAMPS)/torch ## the operators of nacre.kernels beside PyTorch, eager and compiled
	$(call say,"operators of nacre.kernels")
	@$(VENV)/bin/python bench/library.py $(ARGS)
	@$(VENV)/bin/python bench/library_attention.py $(filter --quick --write,$(ARGS))

bench-llm: install $(STAMPS)/torch $(STAMPS)/models ## tokens a second of examples/llm beside transformers, eager and compiled
	$(call say,"a language model")
	@$(VENV)/bin/python bench/llm.py $(ARGS)

bench-inductor: install $(STAMPS)/torch $(STAMPS)/models ## torch.compile: backend="nacre" beside Inductor's C++
	$(call say,"torch.compile")
	@$(VENV)/bin/python bench/inductor.py $(ARGS)

bench-compile: install ## how the time of a compile grows with the kernel
	$(call say,"compile times at n, 2n and 4n")
	@$(VENV)/bin/nacre run bench/compile_scaling.py $(ARGS)

wheel: install ## one wheel for CPython 3.11 and up, in dist/
	$(call say,"wheel")
	@$(VENV)/bin/python python/build_wheel.py --alias --output dist

setup: $(STAMPS)/python ## system packages and the virtual environment only

build: $(BUILD)/build.ninja ## compile everything
	$(call say,"build: $(JOBS) jobs")
	@$(NINJA) -C $(BUILD) -j $(JOBS)

# The package as it stands in the tree, importable from the virtual environment, and the `nacre` command. The C++ package
# (header, library, CMake files) goes into the Python package and, with PREFIX=/usr/local, there.
CPP := python/nacre/cpp
install: build $(STAMPS)/page-packages ## the package in .venv; PREFIX=folder: header, library and CMake package for C++ there
	@$(VENV)/bin/python python/vendor_d3.py
	@$(VENV)/bin/python python/install_tree.py
	@$(VENV)/bin/python python/write_stubs.py
	@cmake --install $(BUILD) --component cpp --prefix $(CPP) > /dev/null
	@$(if $(PREFIX),cmake --install $(BUILD) --component cpp --strip --prefix "$(PREFIX)")

docs: install ## write the language reference and the stages in docs/how-it-works.md again
	@$(VENV)/bin/python python/describe_language.py
	@$(VENV)/bin/python docs/site/stages.py

site: $(STAMPS)/site ## the documentation as a site in build/site, which opens from a disk
	$(call say,"site")
	@[ -x $(VENV)/bin/mkdocs ] || { echo "MkDocs cannot be installed here (python/requirements/site.txt)"; exit 1; }
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict $(ARGS)
	@echo "open $(BUILD)/site/index.html"

notebooks: ## the tutorials as Jupyter notebooks in build/notebooks
	@$(PYTHON) docs/site/notebooks.py $(BUILD)/notebooks

clean: ## remove the build, the virtual environment and the wheels
	rm -rf $(BUILD) $(BUILD)-* $(VENV) dist python/nacre/*.so python/nacre/pages/d3.js $(CPP)/include $(CPP)/lib python/alias/triton-stubs \
	  $$(grep -rlF --include="*.pyi" "Written by python/write_stubs.py" python/nacre)

$(BUILD)/build.ninja: CMakeLists.txt | $(STAMPS)/python
	$(call say,"configure")
	@cmake -G Ninja -S . -B $(BUILD) -DCMAKE_C_COMPILER="$$(command -v clang-22)" \
	  -DCMAKE_CXX_COMPILER="$$(command -v clang++-22)" \
	  -DCMAKE_PREFIX_PATH="$$(llvm-config-22 --prefix)" -DPython3_EXECUTABLE="$(CURDIR)/$(VENV)/bin/python"
	@touch $@

# System packages. dpkg is asked first: a machine that has them needs neither root nor a network.
install_packages = missing=""; \
	for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  printf '\033[1m== system packages:%s\033[0m\n' "$$missing"; \
	  $(as_root)apt-get update -q; \
	  $(as_root)env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	fi
$(STAMPS)/packages: Makefile
	@mkdir -p $(STAMPS)
	@$(call install_packages,$(PACKAGES))
	@touch $@

# Where these cannot be had, that is said, and what needs them skips aloud.
$(STAMPS)/test-packages: Makefile | $(STAMPS)/packages
	@( $(call install_packages,$(TEST_PACKAGES)) ) || echo "skipped: $(TEST_PACKAGES) cannot be installed here"
	@touch $@

$(STAMPS)/page-packages: Makefile | $(STAMPS)/packages
	@( $(call install_packages,$(PAGE_PACKAGES)) ) || echo "skipped: $(PAGE_PACKAGES) cannot be installed here; pages of profiles and launches cannot be written"
	@touch $@

# The virtual environment. Without a package index it borrows Debian's NumPy and pytest, and says so.
$(STAMPS)/python: python/requirements/test.txt | $(STAMPS)/packages
	$(call say,"virtual environment in $(VENV)")
	@[ -x $(VENV)/bin/pip ] || $(PYTHON) -m venv $(VENV)
	@if $(VENV)/bin/pip install -q -r $<; then \
	  rm -f $(STAMPS)/no-index; \
	else \
	  echo "no package index within reach: taking Debian's NumPy, pytest and pytest-xdist; what needs PyTorch is skipped"; \
	  $(as_root)env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3-numpy python3-pytest python3-pytest-xdist; \
	  /usr/bin/python3 -m venv --clear --system-site-packages $(VENV); \
	  mkdir -p $(STAMPS); \
	  touch $(STAMPS)/packages $(STAMPS)/no-index; \
	fi
	@touch $@

# Triton itself, for what it compiles. Half a minute, most of it the download.
$(STAMPS)/triton: python/requirements/triton.txt | $(STAMPS)/python
	$(call say,"Triton in $(VENV)/triton")
	@if [ -e $(STAMPS)/no-index ] || ! $(PYTHON) -m venv $(VENV)/triton || ! $(VENV)/triton/bin/pip install -q -r $<; then \
	  rm -rf $(VENV)/triton; \
	  echo "skipped: $$(grep -v '^#' $< | tr '\n' ' ')cannot be installed here; tests/simulator/test_triton.py skips"; \
	fi
	@touch $@

# Optional packages: where they cannot be had, that is said, and what needs them skips aloud.
$(STAMPS)/torch $(STAMPS)/bench $(STAMPS)/fleet $(STAMPS)/models $(STAMPS)/operators $(STAMPS)/site $(STAMPS)/typing: $(STAMPS)/%: python/requirements/%.txt | $(STAMPS)/python
	$(call say,"Python packages: $*")
	@if [ -e $(STAMPS)/no-index ] || ! $(VENV)/bin/pip install -r $<; then \
	  echo "skipped: $$(grep -v '^#' $< | tr '\n' ' ')cannot be installed here"; \
	fi
	@touch $@

# Packages with kernels, without what they depend on. One that cannot be had is said, and its cases are skipped.
# The tests take those of a megabyte or two, make test-world takes all.
$(STAMPS)/world $(STAMPS)/world-small: $(STAMPS)/world%: tests/world/packages.py | $(STAMPS)/python
	$(call say,"packages with kernels")
	@[ -e $(STAMPS)/no-index ] || $(VENV)/bin/python tests/world/packages.py $(if $*,,all) || echo "skipped: packages with kernels cannot be had here"
	@touch $@
