#!/bin/sh
# Runs seeds of the chaos tests on an embedded cluster, two at a time: $SEEDS of
# them (10) from $FIRST (1) on, or $SEED alone. A line for each says what came of
# it; journals go to the folder $CHAOS_LOG, if that is set.
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
if [ -n "${SEED:-}" ]; then
	export CHAOS_SEED="$SEED"
else
	export CHAOS_SEEDS="${SEEDS:-10}" CHAOS_FIRST="${FIRST:-1}"
fi
cd internal/chaos # there go test shows each line as it comes
exec "$GO" test -count 1 -parallel 2 -timeout 0 -run '^TestSeeds$'
