#!/bin/sh
# make demo: everyday commands against an embedded broker, nothing installed.
# Needs the built binary (make build) and a POSIX shell. Every number shown is
# what the command printed just now.
set -eu
cd "$(dirname "$0")/.."

bin=./bin/streamctl
work=$(mktemp -d "${TMPDIR:-/tmp}/streamctl-demo.XXXXXX")
lab=

cleanup() {
	if [ -n "$lab" ]; then
		kill "$lab" 2>/dev/null || true
		wait "$lab" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

last=
say() {
	if [ "$last" != say ]; then
		echo
	fi
	printf '# %s\n' "$*"
	last=say
}

# show CODE COMMAND... prints the command, runs it and insists on its exit code.
show() {
	want=$1
	shift
	printf '\n$ streamctl %s\n' "$*"
	last=show
	code=0
	"$bin" "$@" || code=$?
	if [ "$code" -ne "$want" ]; then
		printf 'demo: exit code %s, expected %s\n' "$code" "$want" >&2
		exit 1
	fi
	if [ "$want" -ne 0 ]; then
		printf '(exit code %s)\n' "$code"
	fi
}

unset STREAMCTL_CONTEXT STREAMCTL_GROUP 2>/dev/null || true
STREAMCTL_CONFIG="$work/config.yaml"
printf 'contexts: []\n' >"$STREAMCTL_CONFIG"
chmod 600 "$STREAMCTL_CONFIG"
export STREAMCTL_CONFIG

say "An embedded broker with recorded groups: real members of real apps."
printf '\n$ streamctl lab &\n'
"$bin" lab >"$work/lab" 2>"$work/lab.err" &
lab=$!
i=0
until grep -q '^bootstrap ' "$work/lab" 2>/dev/null; do
	i=$((i + 1))
	if [ "$i" -gt 300 ] || ! kill -0 "$lab" 2>/dev/null; then
		cat "$work/lab.err" >&2
		exit 1
	fi
	sleep 0.1
done
cat "$work/lab"
last=lab
STREAMCTL_BOOTSTRAP_SERVER=$(sed -n 's/^bootstrap //p' "$work/lab")
export STREAMCTL_BOOTSTRAP_SERVER

say "Which stream groups are there, and is anything wrong? ~ marks what is inferred."
show 0 get groups

say "shop was scaled out a moment ago. The new instance, pod-b, looks idle to other tools."
say "It is not: it restores the state of two tasks, to take them over when it is done."
show 0 describe group shop
show 0 describe instance pod-b -g shop

say "May pod-a be stopped now? Not without ten tasks waiting for their state."
show 3 check stop pod-a -g shop

say "May pod-b? It runs nothing yet. The exit code is the answer for a script."
show 0 check stop pod-b -g shop

say "What would one more instance do, round by round? Kafka's own assignor, computed."
show 0 plan shop --add 1

say "Or several: a row each, to choose from."
show 0 plan shop --sweep add=0..3

say "A gate for a script: has the group settled? Without --timeout 0 it waits."
show 4 wait shop --for converged --timeout 0

say "fraud rebalances: no assignment is given meanwhile, so nothing is made up."
show 0 describe group fraud

say "delivery is half way through an upgrade of its clients."
show 0 describe group delivery

say "ledger is down; what it has committed is still there."
show 0 describe group ledger

say "clicks is a worker group that scales down: it tells its roles, nothing is inferred."
show 0 describe group clicks

say "Groups of KIP-1071 are read the same way; this one comes from a snapshot file."
show 0 describe group --from testdata/snapshot/streams-reconciling-4.4.0.json

say "For scripts: fixed columns with -o tsv, one versioned document with -o json."
show 0 get groups --findings -o tsv
show 0 check stop pod-b -g shop -o json

say "What changed between two snapshots?"
show 0 diff testdata/snapshot/classic-one-instance.json testdata/snapshot/classic-learners.json

say "Which permissions does reading shop take, and are they there?"
show 0 can-i describe -g shop

say "Done. Next: bin/streamctl lab keeps such a broker running for a second terminal;"
say "bin/streamctl --bootstrap-server HOST:9092 get groups looks at a cluster of yours."
