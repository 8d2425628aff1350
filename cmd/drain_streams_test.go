package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
)

func markC(more ...string) []string {
	return append([]string{"mark-leaving", "pod-c", "-g", "billing"}, more...)
}

// stopWhenSafe stops pod-c at the first look after its copies have caught up and
// that has been told, so many looks later.
func stopWhenSafe(f *streamsFake, later int) {
	f.onLook = func(f *streamsFake) {
		if f.standbys() > 0 && f.looks == f.restore+later {
			f.stop("pod-c")
		}
	}
}

func wants(t *testing.T, got captured, code int, texts ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("exit %d, want %d", got.code, code)
	}
	for _, x := range texts {
		if !strings.Contains(strings.Join(strings.Fields(got.out+got.err), " "), x) {
			t.Errorf("it does not say %q", x)
		}
	}
	if t.Failed() {
		t.Fatalf("out:\n%s\nerr:\n%s", got.out, got.err)
	}
}

func TestDrainStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		wants(t, f.run(t.Context(), markC()...), 1, "pod-c cannot stop safely: with num.standby.replicas 0, 2 tasks would go to an instance that has no copy (0_4 0_5); nothing was done",
			"--raise-standbys raises num.standby.replicas from 0 to", "puts it back once pod-c is gone")
		wants(t, f.run(t.Context(), markC("--raise-standbys", "--dry-run")...), 0, "raising num.standby.replicas from 0 to", "dry run: nothing was marked, nothing was set", "it was 0 (the brokers' default), and is that again once pod-c is gone")
		f.asBefore("dry run")
		stopWhenSafe(f, 2)
		got := f.run(t.Context(), markC("--raise-standbys", "--wait", "-o", "json", "--reason", "node drain")...)
		wants(t, got, 0, "records to restore", "noted in topic billing-streamctl-control", "marked: pod-c", "positions of copies are as their members told them, up to 1m", "safe to stop: every task of pod-c goes to a copy that has caught up", "put back: num.standby.replicas is 0 (the brokers' default) again")
		f.asBefore("after the drain")
		first := strings.Join(f.calls[:3], ", ")
		if !strings.HasPrefix(first, "write standbys, write leaving/00000003-1111-4222-8333-0123456789ab, set ") {
			t.Errorf("in this order: %s", first)
		}
		if last := f.calls[len(f.calls)-3]; last != "set 0" {
			t.Errorf("the setting is put back before the record goes: %q", f.calls)
		}
		var doc struct {
			Standbys struct {
				Before, Set string
				Need        int
				PutBack     bool `json:"put_back"`
				Departures  []struct{ Task, Answer string }
			}
			Leaving struct {
				HandedOver []struct{ Cold *bool } `json:"handed_over"`
			}
			Wait struct{ Met bool }
		}
		if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
			t.Fatal(err)
		}
		if s := doc.Standbys; s.Before != "0" || s.Set != strconv.Itoa(s.Need) || !s.PutBack || len(s.Departures) != 2 || !doc.Wait.Met || len(doc.Leaving.HandedOver) != 2 || *doc.Leaving.HandedOver[0].Cold {
			t.Errorf("document: %s", got.out)
		}
	})
}

// Killed after any write, the same command goes on, and unmark undoes it,
// whether the instance is there still or has gone meanwhile.
func TestDrainStreamsKilledAfterEachWrite(t *testing.T) {
	const writes = 6 // record, mark, setting; setting, record, mark
	for dieAfter := 1; dieAfter <= writes; dieAfter++ {
		for _, goes := range []bool{false, true} {
			for _, after := range []string{"mark-leaving", "unmark", "rebalance"} {
				if after == "rebalance" && !goes && dieAfter <= 3 {
					continue // an instance that is there keeps it
				}
				t.Run(fmt.Sprintf("%d %t %s", dieAfter, goes, after), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f := newStreamsFake(t)
						f.dieAfter = dieAfter
						stopWhenSafe(f, 2)
						got := f.run(timed(t), markC("--raise-standbys", "--wait")...)
						if got.code == 0 && dieAfter < writes {
							t.Fatalf("it was not killed:\n%s%s", got.out, got.err)
						}
						f.dieAfter = -1
						if goes {
							f.stop("pod-c")
						}
						name := "pod-c"
						if len(f.pods) < 3 {
							name = "00000003-1111-4222-8333-0123456789ab"
						}
						switch after {
						case "mark-leaving":
							if len(f.pods) < 3 {
								name = "pod-c"
							}
							got = f.run(timed(t), "mark-leaving", name, "-g", "billing", "--raise-standbys", "--wait")
						case "unmark":
							got = f.run(timed(t), "unmark", name, "-g", "billing")
						default:
							got = f.run(timed(t), "rebalance", "billing", "--yes")
						}
						f.asBefore(fmt.Sprintf("exit %d\n%s%s", got.code, got.out, got.err))
						if after != "rebalance" && got.code != 0 && dieAfter < writes {
							t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
						}
					})
				})
			}
		}
	}
}

// timed bounds a run that would never end.
func timed(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	return ctx
}

func TestDrainStreamsInterrupted(t *testing.T) {
	for _, stop := range []stopped{{errs.Interrupted, "interrupted"}, {errs.Terminated, "terminated"}} {
		synctest.Test(t, func(t *testing.T) {
			f := newStreamsFake(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(2*time.Second, func() { cancel(stop) })
			wants(t, f.run(ctx, markC("--raise-standbys", "--wait")...), stop.code, "the mark and num.standby.replicas", "stay: the same command goes on, unmark pod-c -g billing puts it back now")
			if f.standbys() == 0 || len(f.records) != 2 {
				t.Errorf("setting %d, records %q", f.standbys(), f.records)
			}
			wants(t, f.run(t.Context(), "describe", "group", "billing"), 0, "num.standby.replicas is raised from 0 to", "for the drain of pod-c")
			wants(t, f.run(t.Context(), "unmark", "pod-c", "-g", "billing"), 0, "put back: num.standby.replicas is 0 (the brokers' default) again")
			f.asBefore("unmark")
		})
	}
}

func TestDrainStreamsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		f.restore = 1000
		wants(t, f.run(t.Context(), markC("--raise-standbys", "--wait", "--timeout", "5s")...), 4, "not safe to stop yet", "the copy on", "stay: the same command goes on", "exit 4")
		wants(t, f.run(t.Context(), markC("--wait", "--timeout", "0")...), 4, "not safe to stop yet")
		wants(t, f.run(t.Context(), markC()...), 0, "not safe to stop yet", "the same command with --wait follows it")
		f.restore = 0
		wants(t, f.run(t.Context(), markC()...), 0, "safe to stop: every task of pod-c")
		if len(f.records) != 2 {
			t.Errorf("records %q", f.records)
		}
		f.stop("pod-c")
		wants(t, f.run(t.Context(), "describe", "group", "billing"), 0, "gone by now: mark-leaving, unmark or any other changing command puts it back")
		wants(t, f.run(t.Context(), markC()...), 0, "pod-c is gone, the drain is over")
		f.asBefore("after it was gone")
	})
}

// What somebody else did to the setting is left and named.
func TestDrainStreamsForeignSetting(t *testing.T) {
	for _, value := range []string{"0", "2"} {
		synctest.Test(t, func(t *testing.T) {
			f := newStreamsFake(t)
			wants(t, f.run(t.Context(), markC("--raise-standbys")...), 0, "raised: num.standby.replicas is")
			if strconv.Itoa(f.standbys()) == value {
				value = "1"
			}
			f.change(&value)
			wants(t, f.run(t.Context(), "unmark", "pod-c", "-g", "billing"), 0, "num.standby.replicas is "+value+": somebody changed it meanwhile, so it is left (it was 0 (the brokers' default), the drain set")
			if f.own == nil || *f.own != value || len(f.records) > 0 {
				t.Errorf("setting %v, records %q", f.own, f.records)
			}
		})
	}
}

// The group's own setting before is set again, not taken away.
func TestDrainStreamsOwnSettingBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		zero := "0"
		f.own = &zero
		wants(t, f.run(t.Context(), markC("--raise-standbys")...), 0, "raised:")
		wants(t, f.run(t.Context(), "unmark", "pod-c", "-g", "billing"), 0, "put back: num.standby.replicas is 0 again")
		if f.own == nil || *f.own != "0" {
			t.Errorf("the group's own setting is %v", f.own)
		}
	})
}

func TestDrainStreamsRefused(t *testing.T) {
	for _, x := range []struct {
		name  string
		make  func(*streamsFake)
		args  []string
		code  int
		texts []string
	}{
		{"the brokers allow less", func(f *streamsFake) { f.most = "0" }, markC("--raise-standbys"), 1, []string{"the brokers allow 0 (group.streams.max.standby.replicas)"}},
		{"no permission", func(f *streamsFake) { f.refuse = f.refusal() }, markC("--raise-standbys"), 1, []string{"GROUP_AUTHORIZATION_FAILED", "the marks are withdrawn, nothing is changed"}},
		{"nobody stays", func(f *streamsFake) { f.pods = f.pods[2:] }, markC("--raise-standbys"), 1, []string{"no instance of group \"billing\" would stay"}},
		{"a process id that is no UUID", func(f *streamsFake) { f.pods[2].process = "process-3" }, markC("--raise-standbys"), 1, []string{"which is no UUID: it cannot be marked"}},
		{"a deadline", func(*streamsFake) {}, markC("--scale-down-timeout", "1m"), 1, []string{"--scale-down-timeout means nothing in streams group"}},
		{"from a preStop hook", func(*streamsFake) {}, []string{"mark-leaving", "--self", "--raise-standbys", "--wait", "-g", "billing"}, 2, []string{"would wait for its own end"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newStreamsFake(t)
				x.make(f)
				wants(t, f.run(t.Context(), x.args...), x.code, x.texts...)
				f.asBefore(x.name)
			})
		})
	}
}

// With standbys that are always there nothing is raised: it says that it is safe,
// at once or, with --wait, once the copies have caught up.
func TestDrainStreamsEnoughStandbys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		two := "2"
		f.change(&two)
		wants(t, f.run(t.Context(), markC()...), 1, "pod-c cannot stop safely yet: 0_4: the copy on", "restores 50,000 records", "--wait waits for them")
		wants(t, f.run(t.Context(), markC("--wait")...), 0, "safe to stop: every task of pod-c", "stop it now: nothing was changed")
		wants(t, f.run(t.Context(), markC("--raise-standbys")...), 0, "safe to stop: every task of pod-c", "stop it now: nothing was changed")
		if len(f.records) > 0 || *f.own != "2" {
			t.Errorf("setting %v, records %q", *f.own, f.records)
		}
	})
}

// A broker that tells no positions is never taken to say that it is safe.
func TestDrainStreamsWithoutPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		f.version = 0
		stopWhenSafe(f, 10)
		got := f.run(t.Context(), markC("--raise-standbys", "--wait")...)
		wants(t, got, 0, "the brokers tell no positions of copies (4.4 and later do)", "whether the copies have caught up cannot be seen", "whether these restored cold is not known: 0_4, 0_5", "put back:")
		if strings.Contains(got.err, "safe to stop:") {
			t.Error("it says that it is safe, which it cannot know")
		}
		f.asBefore("after the drain")
	})
}

// Stopped before it was safe: exit 1, and the setting is as before.
func TestDrainStreamsStoppedTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		f.restore = 1000
		f.onLook = func(f *streamsFake) {
			if f.standbys() > 0 && f.looks == 3 {
				f.stop("pod-c")
			}
		}
		wants(t, f.run(t.Context(), markC("--raise-standbys", "--wait")...), 1, "pod-c went before it was safe: restored cold: 0_4 on")
		f.asBefore("after the drain")
	})
}

// A command that refuses what it was asked for says what it did all the same: it
// put the setting of a drain back that was over.
func TestDrainStreamsPutBackByAnother(t *testing.T) {
	for name, args := range map[string][]string{
		"replace":                 {"replace", "billing", "--with", "1", "--yes"},
		"mark-leaving of another": {"mark-leaving", "pod-b", "-g", "billing"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newStreamsFake(t)
			wants(t, f.run(t.Context(), markC("--raise-standbys")...), 0, "raised:")
			f.stop("pod-c")
			got := f.run(t.Context(), args...)
			wants(t, got, 1, "put back: num.standby.replicas is 0 (the brokers' default) again", "; nothing else was done (put back: num.standby.replicas is 0")
			if strings.Contains(got.err, "nothing was done") {
				t.Errorf("%s: %s", name, got.err)
			}
			f.asBefore(name)
			wants(t, f.run(t.Context(), args...), 1, "; nothing was done")
		})
	}
}

// Two instances at once; and one after the other, by two commands: the setting
// stays until both are gone.
func TestDrainStreamsOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStreamsFake(t)
		wants(t, f.run(t.Context(), markC("--raise-standbys")...), 0, "raised:")
		f.looks = 100
		wants(t, f.run(t.Context(), "mark-leaving", "pod-b", "-g", "billing", "--raise-standbys"), 0, "raised:")
		wants(t, f.run(t.Context(), "unmark", "pod-c", "-g", "billing"), 0, "withdrawn: pod-c stays")
		if f.standbys() == 0 || len(f.records) != 2 {
			t.Errorf("setting %d, records %q", f.standbys(), f.records)
		}
		wants(t, f.run(t.Context(), "unmark", "pod-b", "-g", "billing"), 0, "put back:")
		f.asBefore("both")
		wants(t, f.run(t.Context(), "mark-leaving", "pod-b", "pod-c", "-g", "billing", "--raise-standbys"), 0, "for the drain of pod-b and pod-c")
		f.stop("pod-b")
		wants(t, f.run(t.Context(), "unmark", "nosuch", "-g", "billing"), 1)
		f.stop("pod-c")
		wants(t, f.run(t.Context(), "rebalance", "billing", "--yes"), 1, "put back:")
		f.asBefore("both gone")
	})
}
