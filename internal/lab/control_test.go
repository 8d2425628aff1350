package lab

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/kclient"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// What was recorded of a control topic is read again from the replayed group,
// at the same offsets.
func TestReplayControlRecords(t *testing.T) {
	s, err := workerSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	instance := processID(0x902).String()
	mark, err := control.Leaving{Mark: "drain-1", At: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), Who: "alice@ops-1"}.Record(instance)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(9)
	s.Groups[0].Control = []snapshot.ControlRecord{{Key: control.KeyMode, Value: []byte("garbage"), Offset: 2}, {Key: mark.Key, Value: mark.Value, Offset: 6}}
	s.Groups[0].ControlEnd = &end
	l := start(t, Options{})
	if left, err := l.Replay(context.Background(), s); err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	c, err := kclient.Dial(context.Background(), config.Connection{Bootstrap: []string{l.Bootstrap()}}, kclient.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Snapshot(context.Background(), kclient.DescribeQuery(WorkerGroup))
	if err != nil {
		t.Fatal(err)
	}
	g := got.Group(WorkerGroup)
	if !reflect.DeepEqual(g.Control, s.Groups[0].Control) || g.ControlEnd == nil || *g.ControlEnd != end {
		t.Errorf("records %+v up to %v, errors %+v", g.Control, g.ControlEnd, got.Errors)
	}
}
