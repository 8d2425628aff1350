#!/bin/sh
# usage: fetch.sh [VERSION...]
# Fetches the jars of each Kafka version with Maven into jars/VERSION and
# compiles the Java programs of this folder against them into classes/VERSION.
# Without arguments: every version that the real-broker tests use. What is
# there already is left alone, so a second run only looks. An interrupted run
# leaves nothing half done: each folder is made under work/ and then renamed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
[ $# -gt 0 ] || set -- 4.3.1 4.4.0 2.8.2

work=work/fetch.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# replace FROM TO: FROM becomes TO, whatever was there before.
replace() {
	rm -rf "$2.old"
	if [ -d "$2" ]; then mv "$2" "$2.old"; fi
	mkdir -p "$(dirname "$2")"
	mv "$1" "$2" || [ -d "$2" ] # another run may have been first
	rm -rf "$2.old"
}

for v in "$@"; do
	case $v in
	[0-3].*) pom=pom-client sources='StreamsApp.java WireFixtures.java' ;;
	*) pom=pom-broker sources='StreamsApp.java WireFixtures.java AssignOracle.java Watched.java' ;;
	esac

	# The stamp is what a folder was made from: another pom makes another.
	want=$(cksum <"$pom/pom.xml")
	if [ "$(cat "jars/$v/.made-from" 2>/dev/null || true)" != "$want" ]; then
		echo "fetching the jars of Kafka $v" >&2
		mkdir -p "$work/jars"
		mvn -q -B -Dstyle.color=never -f "$pom/pom.xml" dependency:copy-dependencies \
			-Dkafka.version="$v" -DoutputDirectory="$here/$work/jars/$v" >&2
		echo "$want" >"$work/jars/$v/.made-from"
		replace "$work/jars/$v" "jars/$v"
	fi

	# shellcheck disable=SC2086 # a list of file names without blanks
	want="$want $(cat $sources | cksum)"
	if [ "$(cat "classes/$v/.made-from" 2>/dev/null || true)" != "$want" ]; then
		echo "compiling for Kafka $v" >&2
		mkdir -p "$work/classes/$v"
		# shellcheck disable=SC2086 # as above
		javac -nowarn -Xlint:none -encoding UTF-8 -cp "jars/$v/*" -d "$work/classes/$v" $sources >&2
		echo "$want" >"$work/classes/$v/.made-from"
		replace "$work/classes/$v" "classes/$v"
	fi
done
