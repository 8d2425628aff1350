package taskrun

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// BenchmarkRestore restores a changelog of small records, each of its own key,
// into memory and into a file.
func BenchmarkRestore(b *testing.B) {
	const n = 500_000
	for _, at := range []string{"memory", "disk"} {
		b.Run(at, func(b *testing.B) {
			r := newRig(b, 1)
			batch := make([]*kgo.Record, 0, 10_000)
			for i := range uint64(n) {
				// Spread over the key space, as hashes are.
				key := binary.BigEndian.AppendUint64(nil, i*0x9e3779b97f4a7c15)
				batch = append(batch, &kgo.Record{Key: key, Value: make([]byte, 16)})
				if len(batch) == cap(batch) {
					r.put(clog, batch...)
					batch = batch[:0]
				}
			}
			b.ResetTimer()
			var spent time.Duration
			for range b.N {
				dir := ""
				if at == "disk" {
					dir = b.TempDir()
				}
				h, o := r.host(dir, nil)
				ok(b, h.Copy(task0()))
				began := time.Now()
				r.until("caught up", func() bool { return o.has(CaughtUp) })
				spent += time.Since(began)
				h.Crash()
			}
			b.ReportMetric(float64(b.N)*n/spent.Seconds(), "records/s")
		})
	}
}
