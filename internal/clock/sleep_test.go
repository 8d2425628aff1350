package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleepWaitsAsLongAsItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := Sleep(t.Context(), 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("slept for %s, want 3s", took)
		}
	})
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		began := time.Now()
		if err := Sleep(ctx, time.Hour); !errors.Is(err, why) {
			t.Errorf("error %v, want %v", err, why)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("slept for %s, want 1s", took)
		}
		// One that has ended wins, however short the sleep.
		for range 100 {
			if err := Sleep(ctx, 0); !errors.Is(err, why) {
				t.Fatalf("error %v of a context that has ended, want %v", err, why)
			}
		}
	})
}
