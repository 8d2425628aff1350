#!/bin/sh
# The Go benchmarks; then whole processes: large groups of the embedded broker,
# and with Java, side by side: Kafka's own tool against a real broker, and
# Kafka's own assignors on the same scenarios. With the argument full: only the
# sizes for which those take ten minutes and 12 GB.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
if [ "${1:-}" = full ]; then
	sh testdata/jvm/fetch.sh
	exec "$GO" test -tags realkafka,bench -count 1 -timeout 60m -run '^TestSpeedFull' -v ./internal/e2e
fi
for pkg in $("$GO" list ./...); do
	list=$("$GO" test -list '^Benchmark' "$pkg") || {
		echo "$list" >&2
		exit 1
	}
	if echo "$list" | grep -q '^Benchmark'; then
		"$GO" test -run '^$' -bench . -benchmem "$pkg"
	fi
done
"$GO" test -tags bench -count 1 -timeout 15m -run '^TestSpeedLab' -v ./internal/e2e
if command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1; then
	sh testdata/jvm/fetch.sh
	"$GO" test -tags realkafka,bench -count 1 -timeout 15m -run '^TestSpeedBroker' -v ./internal/e2e
	"$GO" test -tags realkafka,bench -count 1 -timeout 15m -run '^TestSpeedAssign' -v ./internal/e2e
else
	echo "left out: the comparison with Kafka's own tool and assignors, which needs Java and Maven"
fi
