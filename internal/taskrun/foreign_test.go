package taskrun

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A stale owner that still writes is noticed. The owner goes on with what it
// has, and whoever restores next takes the changelog as it is.
func TestForeignWrites(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, dir string) {
		r := newRig(t, 1)
		h, o := r.host(dir, nil)
		other, _ := r.host("", nil)
		ok(t, other.Copy(task0()))
		ok(t, h.Activate(task0(), &commits{r: r}))
		r.put(input, numbered(0, 10, 10)...)
		r.until("a commit", func() bool { return r.committed() == 10 })
		r.put(clog, kgo.KeyStringRecord("k0", "77"), kgo.KeyStringRecord("ghost", "1"))
		r.put(input, numbered(10, 10, 10)...)
		r.until("the report", func() bool { return r.committed() == 20 && o.has(Trouble) })
		if p := h.position(task0()); p.Next != 10 {
			t.Fatalf("the position has passed what the store does not hold: %+v", p)
		}
		ok(t, h.Demote(soon(t), task0()))
		r.until("the changelog's truth", func() bool {
			s := h.state(task0())
			return s["ghost"] == "1" && h.position(task0()).Next == 22 && fmt.Sprint(s) == fmt.Sprint(other.state(task0()))
		})
	})
}
