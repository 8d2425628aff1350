#!/bin/sh
# Every test that this machine can run. With REQUIRE_JVM=1 a machine without
# Java and Maven, or a real-broker test that did not run, is a failure.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}

"$GO" test ./...

missing=
for tool in java javac mvn; do
	command -v $tool >/dev/null 2>&1 || missing="$missing $tool"
done
if [ -z "$missing" ]; then
	exec sh scripts/e2e.sh
fi
if [ "${REQUIRE_JVM:-0}" = 1 ]; then
	echo "REQUIRE_JVM=1, and this machine has no$missing" >&2
	exit 1
fi
echo "left out: the tests with a real broker (internal/e2e), which need Java and Maven; not found:$missing"
