package taskrun

import (
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// All goroutines end with Shutdown and with Crash. The test is not parallel, so
// no other host is there.
func TestNothingIsLeftBehind(t *testing.T) {
	r := newRig(t, 2)
	before := hostGoroutines()
	for _, end := range []func(*Host){
		func(h *Host) { ok(t, h.Shutdown(soon(t))) },
		func(h *Host) { h.Crash() },
	} {
		h, _ := r.host(t.TempDir(), nil)
		ok(t, h.Activate(task0(), &commits{r: r}))
		ok(t, h.Copy(model.ClassicTask("", 0, 1)))
		r.put(input, numbered(0, 10, 10)...)
		r.until("some work", func() bool { return total(h.state(task0())) >= 10 })
		if hostGoroutines() == before {
			t.Fatal("the count sees nothing")
		}
		end(h)
		r.until("goroutines to end", func() bool { return hostGoroutines() == before })
	}
}
