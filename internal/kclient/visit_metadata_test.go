package kclient

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/streamctl/streamctl/internal/groupmeta"
	"github.com/streamctl/streamctl/internal/snapshot"
)

func recordedMembers(t *testing.T, name, group string) []snapshot.ClassicMember {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "snapshot", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s.Group(group).Classic.Members
}

func decodeVisitor(t *testing.T, raw []byte) (groupmeta.ConsumerSubscription, groupmeta.SubscriptionInfo) {
	t.Helper()
	frame, err := groupmeta.DecodeConsumerSubscription(raw)
	if err != nil || frame.TrailingBytes > 0 {
		t.Fatal(err, frame.TrailingBytes)
	}
	info, err := groupmeta.DecodeSubscriptionInfo(frame.UserData)
	if err != nil || info.TrailingBytes > 0 {
		t.Fatal(err, info.TrailingBytes)
	}
	return frame, info
}

// A visitor is one more thread of a live process, with nothing of its own, in
// the lowest format that is in use.
func TestVisitorIsAThreadWithoutTasks(t *testing.T) {
	for _, c := range []struct {
		name, group      string
		version, support int32
	}{
		{"classic-learners", "shop", 11, 11}, {"classic-old", "delivery", 9, 9}, {"classic-mixed", "delivery", 9, 9},
	} {
		list := recordedMembers(t, c.name, c.group)
		raw, err := visitorMetadata(list)
		if err != nil {
			t.Fatal(err)
		}
		frame, info := decodeVisitor(t, raw)
		if info.Version != c.version || info.LatestSupportedVersion != c.support {
			t.Errorf("%s: format %d of %d, want %d of %d", c.name, info.Version, info.LatestSupportedVersion, c.version, c.support)
		}
		if len(info.TaskOffsetSums)+len(info.PrevTasks)+len(info.StandbyTasks) > 0 || info.ErrorCode != 0 || len(frame.Owned) > 0 || frame.Generation != groupmeta.NoGeneration {
			t.Errorf("%s: claims something: %+v %+v", c.name, frame, info)
		}
		processes, lowest := map[groupmeta.ProcessID][]string{}, int32(groupmeta.NewestFormat)
		for _, m := range list {
			f, i := decodeVisitor(t, m.Metadata)
			processes[i.ProcessID] = f.Topics
			lowest = min(lowest, i.Version)
		}
		topics, lives := processes[info.ProcessID]
		if !lives || len(topics) != len(frame.Topics) || info.Version != lowest {
			t.Errorf("%s: process %s with topics %v is not one of %v", c.name, info.ProcessID, frame.Topics, processes)
		}
	}
}

// Members in a format that is newer than this build are copied, unread.
func TestVisitorOfANewerFormat(t *testing.T) {
	data := append([]byte{0, 0, 0, 99, 0, 0, 0, 99}, bytes.Repeat([]byte{7}, 20)...)
	f := groupmeta.ConsumerSubscription{
		Version: 3, Topics: []string{"orders"}, UserData: data, Generation: 5,
		Owned: []groupmeta.TopicPartitions{{Topic: "orders", Partitions: []int32{1}}},
	}
	raw, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := visitorMetadata([]snapshot.ClassicMember{{ID: "a", Metadata: raw}})
	if err != nil {
		t.Fatal(err)
	}
	frame, err := groupmeta.DecodeConsumerSubscription(got)
	if err != nil || !bytes.Equal(frame.UserData, data) || len(frame.Owned) > 0 || frame.Generation != groupmeta.NoGeneration {
		t.Errorf("%+v, %v", frame, err)
	}
}

// Without a member whose words are whole there is no visitor: a broker hangs at
// bytes that are no subscription, and a leader dies of one without user data.
func TestNoVisitorOutOfNothing(t *testing.T) {
	f := groupmeta.ConsumerSubscription{Version: 1, Topics: []string{"orders"}}
	plain, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{nil, {}, {1, 2, 3}, plain} {
		if got, err := visitorMetadata([]snapshot.ClassicMember{{ID: "a", Metadata: raw}}); err == nil {
			t.Errorf("%x made %x", raw, got)
		}
	}
}

// Whatever the members' bytes are, a visitor either says something that is whole
// or is not made at all.
func FuzzVisitorMetadata(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		raw, err := visitorMetadata([]snapshot.ClassicMember{{ID: "a", Metadata: a}, {ID: "b", Metadata: b}})
		if err != nil {
			return
		}
		frame, err := groupmeta.DecodeConsumerSubscription(raw)
		if err != nil || len(frame.UserData) == 0 {
			t.Fatalf("%x: %v", raw, err)
		}
		if info, err := groupmeta.DecodeSubscriptionInfo(frame.UserData); err != nil || info.ErrorCode != 0 && !info.NotUnderstood() {
			t.Fatalf("%x: %v", frame.UserData, err)
		}
	})
}
