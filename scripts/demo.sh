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

say() { printf '\n# %s\n' "$*"; }

# show CODE COMMAND... prints the command, runs it and insists on its exit code.
show() {
	want=$1
	shift
	printf '\n$ streamctl %s\n' "$*"
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
STREAMCTL_BOOTSTRAP_SERVER=$(sed -n 's/^bootstrap //p' "$work/lab")
export STREAMCTL_BOOTSTRAP_SERVER

say "Which stream groups are there, and is anything wrong?"
show 0 get groups

say "shop was scaled out a while ago. The new instance looks idle to other tools; it is not."
show 0 describe group shop
show 0 describe instance pod-b -g shop

say "May pod-a be stopped now?"
show 3 check stop pod-a -g shop

say "A gate for a script: is the group balanced and settled?"
show 4 wait shop --for converged --timeout 0

say "A rebalance under way, a rolling upgrade, an app that is down."
show 0 describe group fraud
show 0 describe group delivery
show 0 describe group ledger

say "A worker group that scales down: exact roles and tags."
show 0 describe group clicks

say "KIP-1071 groups are read the same way; this one comes from a snapshot file."
show 0 describe group --from testdata/snapshot/streams-reconciling-4.4.0.json

say "Everything is a document for scripts, too."
show 0 get tasks -g shop -o json

say "What changed between two snapshots?"
show 0 diff testdata/snapshot/classic-one-instance.json testdata/snapshot/classic-learners.json

say "Done. streamctl lab keeps such a broker running for a second terminal."
