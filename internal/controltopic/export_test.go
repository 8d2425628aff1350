package controltopic

import "time"

// SetRequestTimeout makes a test about hangs quick.
func SetRequestTimeout(t *Topic, d time.Duration) { t.request = d }
