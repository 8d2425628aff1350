package report

import (
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/render"
)

// switching is a worker group in a switch that one of its instances has not
// followed so far, and one has never said a word.
func switching() *model.Group {
	g := clicks()
	g.ProtocolType, g.Protocol, g.Mode = "stream", "learner", "incremental"
	read := int64(40)
	g.Control = &model.Control{
		Topic: "clicks-streamctl-control", End: 41,
		Mode: &model.ModeRecord{Mode: "upgrading", Epoch: 3, AllowedMs: 36_000, At: *takenAt(), Who: "alice@laptop", Why: "roll-out\x1b[31m"},
		Status: []model.InstanceStatus{
			{Instance: g.Instances[0].ID, Source: "worker", At: *takenAt(), Mode: "upgrading", Epoch: 3, ControlOffset: &read},
			{Instance: g.Instances[1].ID, Source: "worker", At: *takenAt(), Mode: "incremental", Epoch: 2, ControlError: "needs READ on it"},
		},
	}
	return g
}

// modeReports are the documents about modes, and of the changes that ask first.
func modeReports() map[string]render.Report {
	none := shop()
	none.ProtocolType, none.Protocol = "consumer", "stream"
	g := switching()
	change := func(what string, g *model.Group, done bool, change func(*ChangeResult)) *GroupChange {
		r := ChangeResult{Change: what, Group: g, Done: done, Who: "alice@laptop", Reason: "roll-out"}
		change(&r)
		return NewGroupChange(r)
	}
	member := g.Instances[0].Members[0]
	return map[string]render.Report{
		"mode": NewMode(g), "mode-none": NewMode(none),
		"change-mode": change("mode set", g, true, func(r *ChangeResult) {
			r.Mode = &ModeChange{
				From: ptr("incremental"), To: "upgrading", Epoch: ptr[int64](3), AllowedMs: ptr[int64](36_000), PauseMs: ptr[int64](407), NotFollowed: []string{},
				Checks: []ModeCheck{{Check: "control topic", OK: ptr(true), Text: "every instance has read it up to now"}},
			}
			r.Text = []ChangeLine{GoodLine("switched: clicks runs in mode upgrading, epoch 3, with all 3 instances; pause 407ms")}
		}),
		"change-mode-back": change("mode set", g, false, func(r *ChangeResult) {
			r.Mode = &ModeChange{
				From: ptr("incremental"), To: "upgrading", Epoch: ptr[int64](3), AllowedMs: ptr[int64](2000), DelayMs: ptr[int64](3000), RolledBack: true,
				NotFollowed: []string{"pod-b"}, Checks: []ModeCheck{},
			}
			r.Text = []ChangeLine{WarnLine("not switched: clicks is back in mode incremental, epoch 4, with all 3 instances"), {Text: "did not follow: pod-b"}}
		}),
		"change-mode-streams": change("mode set", none, false, func(r *ChangeResult) {
			r.Mode = &ModeChange{
				To: "streams", NotFollowed: []string{}, Checks: []ModeCheck{{Check: "broker", Text: "which release it is cannot be told"}},
				Migration: &Migration{Members: []string{"pod-a/T1"}, Kept: []string{"committed offsets"}, Lost: []string{"members"}},
			}
		}),
		"change-rebalance": change("rebalance", shop(), true, func(r *ChangeResult) {
			r.Rounds = &Rounds{Until: ptr("converged"), Asked: []AskedOnce{
				{At: *takenAt(), Visitor: "streamctl-1", TookMs: ptr[int64](812), Caught: true, Moved: 2, Learners: 2, Balanced: ptr(false)},
				{At: takenAt().Add(5 * time.Second), Visitor: "streamctl-2"},
			}}
		}),
		"change-removed": change("remove-member", g, true, func(r *ChangeResult) {
			r.Targets = []string{member.ID}
			r.Removed = &RemovedReport{Members: []RemovedMember{
				{Member: member.ID, ClientID: member.ClientID, InstanceID: ptr("pod-a-1"), Instance: g.Instances[0].ID, Host: ptr("/10.0.0.7"), Tasks: []string{"0_0"}, Removed: true},
				{Member: "m2", ClientID: "pod-b", Instance: g.Instances[1].ID, Tasks: []string{}, Error: ptr("UNKNOWN_MEMBER_ID")},
			}}
		}),
	}
}

// Who follows a mode is told from what instances say, and silence is no yes.
func TestModeSaysWhoFollows(t *testing.T) {
	out := strings.Join(strings.Fields(text(t, NewMode(switching()))), " ")
	wants(t, out, "upgrading, epoch 3", "1 of 3 instances follow", "(has said nothing)", "pod-b (epoch 2: needs READ on it)", "a switch is on")
	if strings.Contains(out, "\x1b") {
		t.Errorf("an escape sequence of a record reaches the terminal: %q", out)
	}
}
