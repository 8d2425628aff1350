#!/bin/sh
# usage: build.sh [VERSION...]
# Builds the jar for Kafka Streams apps, target/streamctl-streams.jar, with its
# tests against the lowest release that it runs in; then runs the tests again
# with each other release that is named. JDK 11 or later, and Maven.
set -eu
cd "$(dirname "$0")"
mvn="mvn -q -B -Dstyle.color=never"

$mvn package
size=$(wc -c <target/streamctl-streams.jar)
if [ "$size" -ge 300000 ]; then
	echo "target/streamctl-streams.jar has $size bytes; it must stay below 300000" >&2
	exit 1
fi
for v in "$@"; do
	echo "the plug-in's tests with Kafka Streams $v" >&2
	# surefire alone: what was compiled against the lowest release runs as it is.
	$mvn surefire:test -Dkafka.version="$v"
done
