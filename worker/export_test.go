package worker

import "time"

// KeepStatus sets how long the instance, when it leads, keeps the status of one
// that is in none of its rounds.
func (i *Instance) KeepStatus(d time.Duration) {
	i.link.mu.Lock()
	defer i.link.mu.Unlock()
	i.link.kept = d
}
