package chaos

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Leftover gives the stacks of goroutines that the runtime of workers left
// behind. It waits for them to end.
func Leftover(t testing.TB) string {
	t.Helper()
	var left string
	for range 100 {
		left = ""
		buf := make([]byte, 4<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if ours(g) {
				left += g + "\n\n"
			}
		}
		if left == "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}

// ours says whether a goroutine is one of the runtime of workers.
func ours(stack string) bool {
	for _, pkg := range []string{"streamctl/worker.", "internal/seat.", "internal/taskrun.", "internal/controltopic."} {
		if strings.Contains(stack, pkg) {
			return true
		}
	}
	return false
}
