#!/bin/sh
# Runs each fuzz target for $FUZZTIME (a minute).
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
time=${FUZZTIME:-1m}
found=0
for pkg in $("$GO" list ./...); do
	list=$("$GO" test -list '^Fuzz' "$pkg") || {
		echo "$list" >&2
		exit 1
	}
	for target in $(echo "$list" | grep '^Fuzz' || true); do
		found=1
		echo "$pkg $target"
		"$GO" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg"
	done
done
[ $found = 1 ] || { echo "no fuzz target found" >&2; exit 1; }
