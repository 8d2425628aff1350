#!/bin/sh
# usage: build.sh [VERSION...]
# Builds the jar for Kafka Streams apps, target/streamctl-streams.jar, with its
# tests against the lowest release that it runs in; then runs the tests again
# with each other release that is named. What was built and tested from the same
# sources is left alone, so a second run only looks. JDK 11 or later, and Maven.
set -eu
cd "$(dirname "$0")"
mvn="mvn -q -B -Dstyle.color=never"
# One at a time, where the system has the means.
if command -v flock >/dev/null 2>&1; then
	exec 9>.build.lock
	flock 9
fi

# The tests read vectors of other folders too.
want=$(find src pom.xml build.sh ../internal/scenario/testdata/learner ../testdata/control -type f | LC_ALL=C sort | xargs cksum | cksum)
done_for() { [ "$(cat "target/tested/$1" 2>/dev/null || true)" = "$want" ]; }

if ! { done_for jar && [ -f target/streamctl-streams.jar ]; }; then
	echo "building the plug-in for Kafka Streams" >&2
	$mvn clean package >&2
	size=$(wc -c <target/streamctl-streams.jar)
	if [ "$size" -ge 300000 ]; then
		echo "target/streamctl-streams.jar has $size bytes; it must stay below 300000" >&2
		exit 1
	fi
	mkdir -p target/tested
	echo "$want" >target/tested/jar
fi
for v in "$@"; do
	done_for "$v" && continue
	echo "the plug-in's tests with Kafka Streams $v" >&2
	# surefire alone: what was compiled against the lowest release runs as it is.
	$mvn surefire:test -Dkafka.version="$v" >&2
	echo "$want" >"target/tested/$v"
done
