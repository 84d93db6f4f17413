# Targets for people and for CI. `make test` needs Go, Python 3.10 or later, a C and a C++ compiler, and on Linux
# bubblewrap, which it installs if it may; the rest of what it needs it installs into .venv. `make test-go` needs no
# compiler but Go's.

GO     ?= go
PYTHON ?= python3
VENV   := .venv
PEERS  := .venv-peers
FLATLAND := .venv-flatland
BIN    := bin/skyrail

# The Python that the Go tests compare with, that hosts teams' code in them, and that runs the Python tests.
export SKYRAIL_PYTHON = $(abspath $(VENV)/bin/python)

# The Python with flatland-rl, which needs an older NumPy than the rest.
export SKYRAIL_FLATLAND = $(abspath $(FLATLAND)/bin/python)

# Tests of what needs the cage fail where there is none. On another system than Linux, or to do without, say
# SKYRAIL_CAGE=optional.
export SKYRAIL_CAGE ?= required

.PHONY: all build lib wheel cage test test-go test-python test-peers test-race test-arm64 lint bench bench-peer bench-python \
	profile fuzz cross clean

all: build

build:
	CGO_ENABLED=0 $(GO) build -o $(BIN) ./cmd/skyrail

# The simulators as a shared library, where the Python package of this checkout looks for it. Always built: Go knows
# what has changed.
lib:
	GO=$(GO) $(PYTHON) python/build_library.py python/skyrail

# dist/skyrail-….whl for this platform, with the library in it: it installs where there is no Go. GOAMD64=v1 is every
# processor of an amd64 platform.
wheel: $(VENV)/ready
	rm -f dist/skyrail-*.whl
	GO=$(GO) GOAMD64=v1 $(VENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist ./python
	@ls dist/skyrail-*.whl

test: test-go test-python

# Bubblewrap, from the system's packages.
cage:
	@test "$(SKYRAIL_CAGE)" != required || command -v bwrap >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq bubblewrap; } || \
		{ echo "install bubblewrap, or run with SKYRAIL_CAGE=optional"; exit 1; }

test-go: $(VENV)/ready $(FLATLAND)/ready cage
	$(GO) test ./...
	# These ask the go command, Python, NumPy and flatland-rl, which the test cache does not know of.
	$(GO) test -count=1 . ./numpyrand ./internal/pyvalue ./rail/railfile ./rail/generate ./rail/contest

test-python: $(VENV)/ready build lib
	SKYRAIL=$(abspath $(BIN)) $(VENV)/bin/python -m pytest -q python/tests

# Beside the real Stable-Baselines3 and torch, which are large: not part of `make test`.
test-peers: $(PEERS)/ready build lib cage
	$(PEERS)/bin/python internal/checkpoint/testdata/make_fixtures.py --stock python/skyrail/stock --check
	SKYRAIL=$(abspath $(BIN)) SKYRAIL_PYTHON=$(abspath $(PEERS)/bin/python) \
		$(PEERS)/bin/python -m pytest -q python/tests/peers

# The race detector needs cgo and a C compiler.
test-race: $(VENV)/ready $(FLATLAND)/ready cage
	CGO_ENABLED=1 $(GO) test -race ./...

# The exactness tests as arm64 code, under emulation; needs qemu-user-static.
test-arm64: $(VENV)/ready $(FLATLAND)/ready
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) test -exec qemu-aarch64-static ./numpyrand ./flight/... ./rail/... ./internal/elementary ./internal/pyvalue ./internal/checkpoint

lint: $(VENV)/ready
	@unformatted=$$($$($(GO) env GOROOT)/bin/gofmt -l .) || exit 1; if [ -n "$$unformatted" ]; then echo "gofmt -w these:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	CGO_ENABLED=0 $(GO) vet ./...
	$(VENV)/bin/ruff check python
	$(VENV)/bin/ruff format --check python

bench:
	$(GO) test -run '^$$' -bench . -cpu 1 ./...

# The engines beside their references, one after the other on one core, and the ratios: the same 100 seeds and agents in the
# environment in Python, and the same episodes in flatland-rl (some minutes).
bench-peer: $(VENV)/ready $(FLATLAND)/ready build
	$(VENV)/bin/python python/bench/flight_peer.py --skyrail $(BIN)
	$(VENV)/bin/python python/bench/rail_peer.py --flatland $(FLATLAND)/bin/python
	$(VENV)/bin/python python/bench/generate_peer.py --flatland $(FLATLAND)/bin/python

# The environments for Python beside the starter kit's and flatland-rl's own, taking turns in one run.
bench-python: $(VENV)/ready $(FLATLAND)/ready lib
	$(VENV)/bin/python python/bench/flight_env_peer.py
	$(VENV)/bin/python python/bench/rail_env_peer.py --flatland $(FLATLAND)/bin/python

# What the shared library is compiled for: where the steps of batches spend their time. Go reads it by itself.
profile:
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	run() { $(GO) test -run '^$$' -bench Step -cpu 1 -benchtime $$2 -pgo off -trimpath -cpuprofile $$dir/$$1 -o $$dir/$$1.test ./$$1/batch; }; \
	run flight 10s; run rail 2s; \
	$(GO) tool pprof -proto $$dir/flight $$dir/rail > $$dir/both; mv $$dir/both cmd/libskyrail/default.pgo

# Every fuzz target for FUZZTIME each. Making a finding small takes few tries, or it would take most of the time.
FUZZTIME ?= 30s
fuzz:
	@set -e; for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$p; \
		done; \
	done

cross:
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/skyrail
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/skyrail
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/skyrail

# This and .venv-peers have the package of the checkout without its library, which `make lib` makes.
$(VENV)/ready: python/pyproject.toml python/setup.py
	$(PYTHON) -m venv $(VENV)
	SKYRAIL_EDITABLE_WITHOUT_LIBRARY=1 $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e 'python[test]'
	touch $@

# Its dependencies are those of flatland-rl and of its PettingZoo wrapper.
$(FLATLAND)/ready: Makefile
	$(PYTHON) -m venv $(FLATLAND)
	$(FLATLAND)/bin/python -m pip install --quiet --disable-pip-version-check flatland-rl==4.2.5 'pettingzoo>=1.24' 'gymnasium>=1.1'
	touch $@

$(PEERS)/ready: python/pyproject.toml python/setup.py
	$(PYTHON) -m venv $(PEERS)
	SKYRAIL_EDITABLE_WITHOUT_LIBRARY=1 $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e 'python[test,worker,train]'
	touch $@

clean:
	rm -rf bin dist python/skyrail/libskyrail.* $(VENV) $(PEERS) $(FLATLAND)
