#!/bin/sh
# Kafka Streams' own assignor and the plug-in side by side, on a real broker:
# for how long some task is not processing when an instance is stopped, and what
# one more instance moves and restores. Takes about ten minutes; nothing else
# should keep the machine busy meanwhile.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
sh testdata/jvm/fetch.sh
sh jvm/build.sh
exec "$GO" test -tags realkafka,bench -count 1 -timeout 30m -run '^TestBenchDrain' -v ./internal/e2e
