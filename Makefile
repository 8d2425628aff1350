# make build   bin/streamctl
# make test    every test; those with a real broker where Java and Maven are
# make plugin  jvm/target/streamctl-streams.jar, for Kafka Streams apps, with its tests
# make e2e     only the tests with a real broker, and of changes that are
#              predicted and then made all, not only the quick ones
# make lint    gofmt, vet, staticcheck, golangci-lint, the layout
# make golden  writes the golden files again: read the diff before you commit it
# make docs    writes docs/cli again
# make fuzz    every fuzz target for a minute (FUZZTIME=10s for less)
# make bench   Go benchmarks, then whole processes and Kafka's assignors side by side
# make bench-full   the assignors at sizes that take Java ten minutes and 12 GB
# make bench-drain  Kafka's own assignor and the plug-in when an instance is stopped, and
#              when one joins: real brokers and apps, about ten minutes
# make demo    embedded brokers: recorded groups, then a live job that is scaled,
#              drained, switched and crashed; with nothing but Go
# make chaos SEEDS=100   workers in trouble of every kind, as many seeds (10), two
#              at a time; FIRST=7 from that one on, SEED=7 that one alone

GO ?= go
FUZZTIME ?= 1m

.PHONY: build test plugin e2e lint golden docs fuzz bench bench-full bench-drain demo chaos

build:
	$(GO) build -o bin/streamctl .

test:
	GO="$(GO)" sh scripts/test.sh

plugin:
	sh jvm/build.sh

e2e:
	E2E_ALL=1 GO="$(GO)" sh scripts/e2e.sh

lint:
	GO="$(GO)" sh scripts/lint.sh

# A package without the flag rejects it, so only those that have one are named.
golden:
	$(GO) test ./cmd ./internal/report ./internal/render -update
	$(GO) test ./internal/assign ./internal/plan -rewrite

docs:
	$(GO) run . docs --format markdown --dir docs/cli

fuzz:
	GO="$(GO)" FUZZTIME="$(FUZZTIME)" sh scripts/fuzz.sh

bench:
	GO="$(GO)" sh scripts/bench.sh

bench-full:
	GO="$(GO)" sh scripts/bench.sh full

bench-drain:
	GO="$(GO)" sh scripts/bench-drain.sh

demo: build
	sh scripts/demo.sh

chaos:
	GO="$(GO)" SEEDS="$(SEEDS)" SEED="$(SEED)" FIRST="$(FIRST)" sh scripts/chaos.sh
