package kclient

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/streamctl/streamctl/internal/config"
	"github.com/streamctl/streamctl/internal/control"
)

// Records are there, in the topic that the first of them makes, when the call
// returns; several are written at once.
func TestWriteControl(t *testing.T) {
	f, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	c, err := Dial(t.Context(), config.Connection{Bootstrap: f.ListenAddrs()}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ids := []string{"7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001", "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a002", "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a003"}
	var marks []control.Record
	for _, id := range ids {
		r, err := control.Leaving{Mark: "m-" + id[:4], At: time.Now(), Who: "a@b"}.Record(id)
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, r)
	}
	offsets, err := c.WriteControl(t.Context(), "clicks", marks...)
	slices.Sort(offsets)
	if err != nil || !slices.Equal(offsets, []int64{0, 1, 2}) {
		t.Fatalf("offsets %v, %v", offsets, err)
	}
	if offsets, err = c.WriteControl(t.Context(), "clicks", control.Withdrawal(ids[0])); err != nil || offsets[0] != 3 {
		t.Fatalf("offsets %v, %v", offsets, err)
	}
	// What is no record of ours is refused by nobody, what is too large is.
	big := control.Record{Key: control.KeyMode, Value: make([]byte, control.MaxValue+1)}
	if offsets, err = c.WriteControl(t.Context(), "clicks", big); err == nil || offsets[0] != -1 {
		t.Errorf("a record that is too large: offsets %v, %v", offsets, err)
	}
	if offsets, err = c.WriteControl(t.Context(), "clicks"); err != nil || len(offsets) != 0 {
		t.Errorf("nothing: offsets %v, %v", offsets, err)
	}
}
