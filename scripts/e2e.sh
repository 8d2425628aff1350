#!/bin/sh
# The tests with a real broker. go test calls a skipped test a success; here
# every test of the package must have passed. With E2E_ALL=1 all changes are
# made that are predicted, else only the quick ones.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
tags=realkafka
limit=18m

sh testdata/jvm/fetch.sh
# The plug-in's own tests run with the lowest release, and with E2E_ALL=1 with the others too.
if [ "${E2E_ALL:-0}" = 1 ]; then
	sh jvm/build.sh 3.9.1 4.0.0 4.1.1 4.3.1 4.4.0
	limit=60m
else
	sh jvm/build.sh
fi
log=$(mktemp)
trap 'rm -f "$log" "$log.rc"' EXIT
want=$("$GO" test -tags $tags -list '^Test' ./internal/e2e | grep '^Test')

# Shown as they come: what a test says when it ends, and the closing lines.
{
	rc=0
	"$GO" test -tags $tags -count 1 -parallel 3 -timeout $limit -v ./internal/e2e 2>&1 || rc=$?
	echo "$rc" >"$log.rc"
} | tee "$log" | awk '/^(--- |ok |FAIL|panic:)/ { print; fflush() }'

if [ "$(cat "$log.rc")" != 0 ]; then
	grep -v '^=== ' "$log" >&2 || true
	exit 1
fi
for t in $want; do
	grep -q "^--- PASS: $t " "$log" || {
		echo "the real-broker test $t did not run" >&2
		exit 1
	}
done
if grep '^ *--- SKIP' "$log" >&2; then
	echo "real-broker tests were skipped" >&2
	exit 1
fi
