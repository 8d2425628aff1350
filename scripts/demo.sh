#!/bin/sh
# make demo: streamctl on embedded brokers, nothing installed. First recorded
# groups, then a live job that is scaled up, drained, switched and crashed.
# Needs the built binary (make build) and a POSIX shell. Every number shown is
# what the command printed just now; every exit code is insisted on.
set -eu
cd "$(dirname "$0")/.."

bin=./bin/streamctl
work=$(mktemp -d "${TMPDIR:-/tmp}/streamctl-demo.XXXXXX")
lab=

end_lab() {
	if [ -n "$lab" ]; then
		kill "$lab" 2>/dev/null || true
		wait "$lab" 2>/dev/null || true
		lab=
	fi
}

cleanup() {
	end_lab
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

# chapter TITLE...
chapter() {
	printf '\n\n=== %s ===\n' "$*"
	last=chapter
}

# command_line ARGUMENTS... prints a command as one would type it, long ones on
# several lines.
command_line() {
	line=streamctl
	for a in "$@"; do
		case $a in
		*' '*) line="$line '$a'" ;;
		*) line="$line $a" ;;
		esac
	done
	printf '\n$ '
	printf '%s\n' "$line" | fold -s -w 74 | sed -e '$!s/ *$/ \\/' -e '2,$s/^/    /'
}

# show CODE COMMAND... prints the command, runs it and insists on its exit code.
show() {
	want=$1
	shift
	command_line "$@"
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

# start_lab ARGUMENTS... starts a lab, waits until it runs, and points the
# commands that follow at it.
start_lab() {
	command_line lab "$@" '&'
	: >"$work/lab" # what an earlier lab said
	"$bin" lab "$@" >>"$work/lab" 2>"$work/lab.err" &
	lab=$!
	i=0
	until grep -q '^bootstrap ' "$work/lab" 2>/dev/null; do
		i=$((i + 1))
		if [ "$i" -gt 600 ] || ! kill -0 "$lab" 2>/dev/null; then
			cat "$work/lab.err" >&2
			exit 1
		fi
		sleep 0.1
	done
	cat "$work/lab"
	last=lab
	STREAMCTL_BOOTSTRAP_SERVER=$(sed -n 's/^bootstrap //p' "$work/lab")
	export STREAMCTL_BOOTSTRAP_SERVER
}

unset STREAMCTL_CONTEXT STREAMCTL_GROUP STREAMCTL_OUTPUT STREAMCTL_FROM 2>/dev/null || true
STREAMCTL_CONFIG="$work/config.yaml"
printf 'contexts: []\n' >"$STREAMCTL_CONFIG"
chmod 600 "$STREAMCTL_CONFIG"
export STREAMCTL_CONFIG
XDG_RUNTIME_DIR=$work # the lab's socket
TMPDIR=$work          # and its files
export XDG_RUNTIME_DIR TMPDIR

chapter "1 of 5: see what really runs"

say "An embedded broker with recorded groups: real members of real apps."
start_lab

say "Which stream groups are there, and is anything wrong? ~ means inferred."
show 0 get groups

say "shop was scaled out a moment ago. The new pod-b looks idle to other tools."
say "It is not: it restores the state of two tasks, to take them over then."
show 0 describe group shop

say "May pod-a be stopped now? Not without ten tasks waiting for their state."
show 3 check stop pod-a -g shop

say "How many instances to add? Kafka's own assignor says what each number does."
show 0 plan shop --sweep add=0..3

say "Groups of KIP-1071 are read the same way; here from a snapshot file."
show 0 describe group --from testdata/snapshot/streams-reconciling-4.4.0.json
end_lab

chapter "2 of 5: scale up a live job"

say "Now a job that lives: workers count page views by key, a producer writes."
say "State is restored slowly, 1,200 records/s, so that it can be watched."
start_lab up --instances 3 --tasks 12 --restore-rate 1200 --session-timeout 6s
show 0 describe group clicks

say "One more instance: what would it move, and how long would that take?"
show 0 plan clicks --add 1 --restore-rate 1200 --summary

say "Do it. Nothing stops: pod-d first learns the state of three tasks."
show 0 lab add
sleep 3
show 0 describe group clicks

say "Each task goes over when its learner is ready. A gate for scripts:"
show 0 wait clicks --for converged --settle 1s --timeout 60s --interval 4s
show 0 lab status

chapter "3 of 5: take an instance out of service"

say "pod-c is to go. Its tasks stay with it until others have their state."
show 0 mark-leaving pod-c -g clicks --wait --reason "node drain" --timeout 60s
say "It leaves by itself. No record was lost, none was counted twice:"
show 0 wait clicks --for stable --settle 1s --timeout 60s
show 0 lab status

chapter "4 of 5: switch the mode of all instances at once"

say "In mode upgrading plain consumers of the group may take part (a rolling"
say "upgrade); incremental is for workers alone. Both ways, under traffic:"
show 0 mode set clicks upgrading --yes
show 0 mode set clicks incremental --yes
show 0 mode get clicks

chapter "5 of 5: crash"

leader=$("$bin" lab status -o tsv --no-headers | awk -F '\t' '$2 == "running" && $7 == "true" { print $1 }')
say "A crash cannot be planned. Kill ${leader:=pod-a}, the leader of the group."
show 0 lab kill "$leader"

say "The broker does not know yet. Who looks twice sees that it is silent:"
show 0 describe group clicks --sample 1s

say "Its session ends after 6s. Others restore its tasks, cold, and go on:"
sleep 6
show 0 describe group clicks
show 0 wait clicks --for restored --timeout 60s --interval 4s

say "Started again it finds its state on disk, and learns only what it missed."
show 0 lab restart "$leader"
show 0 wait clicks --for converged --settle 1s --timeout 60s --interval 4s

say "All stores, key by key, against what was written: nothing is lost. Only the"
say "crash made a task wait for its state; compare the longest gap with before."
show 0 lab status

say "Done. bin/streamctl lab up keeps such a job running for a second terminal;"
say "bin/streamctl --bootstrap-server HOST:9092 get groups looks at a cluster."
