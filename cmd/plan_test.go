package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// A group that rebalances is waited for; once it is Stable the plan is made of
// what it is then. A look that fails on the way is tried again.
func TestPlanWaitsForStable(t *testing.T) {
	s := fixture(t, "classic-one-instance")
	for _, c := range []struct {
		name  string
		waits int // looks at which it rebalances
		fails int // look that fails; 0: none
		args  []string
		code  int
		want  string // on stdout
		err   string
	}{
		{"stable", 0, 0, nil, 0, "from Stable", ""},
		{"settles", 5, 3, nil, 0, "from Stable", "cannot look: broker went away; trying again"},
		{"too long", 50, 0, []string{"--timeout", "20s"}, 4, "", `group "shop" is still PreparingRebalance after 20s`},
		{"one look", 50, 0, []string{"--timeout", "0"}, 4, "", "not Stable"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fakeCluster{errs: make([]error, 100)}
			for i := range 100 {
				if i < c.waits {
					f.answers = append(f.answers, preparing(t, s))
				} else {
					f.answers = append(f.answers, s)
				}
			}
			if c.fails > 0 {
				f.errs[c.fails] = errFake
			}
			got := runWith(t, fakeDeps(t, f), append([]string{"plan", "shop"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.out, c.want) || c.want == "" && got.out != "" || !strings.Contains(got.err, c.err) {
				t.Errorf("%s: exit code %d, want %d\n%s%s", c.name, got.code, c.code, got.out, got.err)
			}
			if c.waits > 0 && c.code == 0 && strings.Count(got.err, "waiting for shop") != 1 {
				t.Errorf("%s: said more than once, or not: %s", c.name, got.err)
			}
		})
	}
}

// When nothing can be read at all within --timeout, that is a failure, no wait
// that ran out.
func TestPlanOfASilentCluster(t *testing.T) {
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-one-instance")}, errs: []error{errFake}}), "plan", "shop")
	if got.code != 1 || got.out != "" || !strings.Contains(got.err, "broker went away") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// Several groups are one document; one that cannot be planned does not hide
// the others.
func TestPlanOfSeveralGroups(t *testing.T) {
	s := merge(fixture(t, "classic-standbys"), fixture(t, "classic-learners"), fixture(t, "classic-mixed"))
	f := func() *fakeCluster { return &fakeCluster{answers: []*snapshot.Snapshot{s}} }
	got := runWith(t, fakeDeps(t, f()), "plan", "shop", "stats", "delivery", "-o", "json", "--exit-code")
	doc := document(t, got.out)
	items, _ := doc["items"].([]any)
	if got.code != 1 || doc["kind"] != "PlanList" || len(items) != 2 || len(doc["errors"].([]any)) != 1 {
		t.Errorf("exit code %d, %d items, errors %v\n%s", got.code, len(items), doc["errors"], got.err)
	}
	for i, id := range []string{"shop", "stats"} {
		if p := items[i].(map[string]any); p["group"] != id || p["kind"] != "Plan" {
			t.Errorf("item %d is %v of %v", i, p["kind"], p["group"])
		}
	}
	if got = runWith(t, fakeDeps(t, f()), "plan", "delivery", "-o", "json"); got.code != 1 || got.out != "" {
		t.Errorf("one group that is refused: exit code %d, stdout %q", got.code, got.out)
	}
}

// A KIP-848 group is no stream group: a plan refuses it and says what it is.
func TestFieldCase60NoPlanOfAConsumerGroup(t *testing.T) {
	for _, args := range [][]string{{"plan", "next"}, {"plan", "next", "--force", "-o", "json"}, {"plan", "mailer", "--add", "1"}} {
		got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{zoo(t)}}), args...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.err, "is a consumer group, not a stream group") {
			t.Errorf("%v: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
}

// Sizes that are refused are said to be unknown, with the reason; records are
// counted all the same.
func TestFieldCase74SizesAreRefused(t *testing.T) {
	for _, option := range []string{kclient.OptionRefused, "refused by 1 of 3 brokers"} {
		s := with(t, fixture(t, "classic-one-instance"), func(s *snapshot.Snapshot) {
			s.LogSizes, s.Options = nil, map[string]string{kclient.OptionLogDirs: option}
		})
		run := func(args ...string) captured {
			return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append([]string{"plan", "shop", "--add", "1"}, args...)...)
		}
		words := strings.Join(strings.Fields(run().out), " ")
		if got := run(); got.code != 0 || !strings.Contains(words, "(bytes unknown: DescribeLogDirs "+option+")") || !strings.Contains(words, "records") {
			t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
		}
		totals := document(t, run("-o", "json").out)["totals"].(map[string]any)
		if totals["remaining_bytes"] != nil || totals["remaining_records"] == nil {
			t.Errorf("bytes %v, records %v", totals["remaining_bytes"], totals["remaining_records"])
		}
		if got := run("--require-bytes"); got.code != 1 || !strings.Contains(got.err, "DescribeLogDirs "+option) || !strings.Contains(got.out, "Moves") {
			t.Errorf("--require-bytes: exit code %d\n%s", got.code, got.err)
		}
		if got := run("--fail-on", "restore>1GiB"); got.code != 3 {
			t.Errorf("a gate on what is not known: exit code %d\n%s", got.code, got.err)
		}
	}
	s := fixture(t, "classic-one-instance")
	if got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "plan", "shop", "--add", "1", "--require-bytes"); got.code != 0 {
		t.Errorf("sizes are known: exit code %d\n%s", got.code, got.err)
	}
}

// A stop without leaving the group moves nothing before the session times out.
func TestFieldCase6SessionTimeoutInThePlan(t *testing.T) {
	s := fixture(t, "classic-standbys")
	run := func(args ...string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), append([]string{"plan", "stats"}, args...)...)
	}
	totals := func(args ...string) map[string]any {
		return document(t, run(append(args, "-o", "json")...).out)["totals"].(map[string]any)
	}
	if got := totals("--remove", "pod-b"); got["leave_wait_ms"] == nil || got["assumed"] != true {
		t.Errorf("totals %v", got)
	}
	if got := totals("--remove", "pod-b", "--set", "session.timeout.ms=10000"); got["assumed"] != false || got["leave_wait_ms"].(interface{ String() string }).String() != "10000" {
		t.Errorf("with the timeout given: totals %v", got)
	}
	if got := totals("--remove", "pod-b,how=leave"); got["leave_wait_ms"] != nil {
		t.Errorf("which leaves: totals %v", got)
	}
	if got := run("--remove", "pod-b"); !strings.Contains(got.out, "without an explicit leave nothing moves until the session timeout") {
		t.Errorf("not said:\n%s", got.out)
	}
}

// A member that reported nothing of a task it runs is a remark, no failure.
func TestFieldCase2PlanNamesWhatWasNotReported(t *testing.T) {
	got := runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{fixture(t, "classic-standbys")}}), "plan", "stats", "-o", "wide")
	got.out = strings.Join(strings.Fields(got.out), " ")
	if got.code != 0 || !strings.Contains(got.out, "reported no offset sum for its active 0_1") || !strings.Contains(got.out, "the prediction treats their state then as unknown") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// A static instance that comes back in time with its threads moves nothing.
func TestFieldCase26BounceOfAStaticInstance(t *testing.T) {
	s := with(t, fixture(t, "classic-standbys"), func(s *snapshot.Snapshot) {
		for i := range s.Groups[0].Classic.Members {
			m := &s.Groups[0].Classic.Members[i]
			id := strings.TrimSuffix(m.ClientID, "-consumer")
			m.InstanceID = &id
		}
	})
	run := func(bounce string) captured {
		return runWith(t, fakeDeps(t, &fakeCluster{answers: []*snapshot.Snapshot{s}}), "plan", "stats", "--bounce", bounce, "--exit-code")
	}
	words := strings.Join(strings.Fields(run("pod-b").out), " ")
	if got := run("pod-b"); got.code != 0 || !strings.Contains(words, "0 moves if pod-b returns within the session timeout and keeps its thread count") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got := run("pod-b,threads=1"); strings.Contains(got.out, "0 moves if") {
		t.Errorf("with another number of threads:\n%s", got.out)
	}
}

// Nothing is sent where the request means nothing.
func TestPlanRefusesBeforeDialling(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(saved, []byte(`{"kind":"Plan","schema_version":1,"group":"shop","request":{"changes":[{"flag":"add","value":"many"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--check " + saved, 1, "the number of instances"},
		{"--check " + dir + "/none.json", 1, "saved plan"},
		{"--set max.warmup.replicas", 2, "is not KEY=VALUE"},
		{"--set max.warmup.replicas=2 --set max.warmup.replicas=3", 2, "given twice"},
		{"--set MAX.WARMUP.REPLICAS=2", 2, `did you mean "max.warmup.replicas"?`},
		{"--set max.warmup.replicas=many", 2, "no whole number"},
		{"--set max.warmup.replicas=0", 2, "no whole number from 1 on"},
		{"--set max.warmup.replicas=", 2, "no whole number"},
		{"--set probing.rebalance.interval.ms=1000", 2, "from 60000 on"},
		{"--sweep max.warmup.replicas=1,none", 2, "no whole number"},
		{"--sweep balancing-factor=1,0.5", 2, "no number from 1 to 1000000"},
		{"--sweep add=0,two", 2, "the number of instances"},
		{"--set nonsense=1", 2, "one of acceptable.recovery.lag"},
		{"--bounce ,static", 2, "no instance is named"},
		{"--leaving= ", 2, "no instance is named"},
		{"--max-rounds -1", 2, "negative"},
		{"--fail-on restore>", 2, "restore>SIZE"},
		{"--sweep add", 2, "--sweep"},
		{"--sweep add=1 --check x", 2, "exclude one another"},
		{"--sweep add=5..0", 2, "runs backwards"},
		{"--sweep add=0..1000000", 2, "more than 1000 values"},
		{"--sweep add=0,1 --sweep add=2", 2, "given 2 times"},
		{"--sweep add=1 --summary", 2, "--summary is about a plan"},
		{"--sweep add=1 --require-bytes", 2, "--require-bytes is about a plan"},
		{"--check " + saved + " --require-bytes", 2, "--require-bytes is about a plan"},
		{"--fail-on=", 2, "--fail-on is empty"},
		{"--fail-on idle,", 2, "--fail-on is empty"},
		{"--restore-rate=", 2, "--restore-rate is empty"},
		{"--assignor=", 2, "--assignor is empty"},
		{"--check=", 2, "--check is empty"},
		{"--balancing-factor 0", 2, `--balancing-factor: "0" is no number from 1 to 1000000`},
		{"--balancing-factor inf", 2, `"inf" is no number from 1 to 1000000`},
		{"--balancing-factor 2000000", 2, `"2000000" is no number from 1 to 1000000`},
		{"--sweep balancing-factor=2000000", 2, `balancing-factor: "2000000" is no number from 1 to 1000000`},
		{"--threads pod-a=1 --threads pod-a=3", 2, `--threads: "pod-a" is given twice`},
		{"--partitions orders=9 --partitions orders=12", 2, `--partitions: "orders" is given twice`},
		{"--set session.timeout.ms=9223372036854775807", 2, "more than a year"},
		{"--fail-on moves", 2, "moves>N"},
		{"--check - --from -", 2, "both read stdin"},
		{"--sort-by moves", 2, "no rows to sort"},
		{"-g other", 2, "named twice"},
	} {
		got := runWith(t, fakeDeps(t, nil), append([]string{"plan", "shop"}, strings.Fields(c.args)...)...)
		if got.code != c.code || got.out != "" || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: exit code %d, want %d with %q\n%s%s", c.args, got.code, c.code, c.want, got.out, got.err)
		}
	}
}

// --timeout bounds the command as a whole.
func TestPlanIsBounded(t *testing.T) {
	o := &planOptions{d: fakeDeps(t, nil)}
	for timeout, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
		ctx, cancel := o.bound(t.Context(), timeout)
		end, ok := ctx.Deadline()
		cancel()
		if left := time.Until(end); !ok || left > want || left < want-5*time.Second {
			t.Errorf("%s: ends in %s, want %s", timeout, left, want)
		}
	}
	if _, known := config.LookupKey(config.KeyTimeout); !known {
		t.Error("--timeout is no key")
	}
}
