package plan

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// drawer draws ids that nobody knows yet. The same seed gives the same ids.
type drawer struct{ state uint64 }

func newDrawer(seed uint64) *drawer {
	return &drawer{state: seed*0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d}
}

// next is a step of a 64-bit mixing generator.
func (d *drawer) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uuid draws a random UUID (version 4).
func (d *drawer) uuid() string {
	hi, lo := d.next(), d.next()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&0xffffffffffff)
}

// memberID draws the id that a broker gives a member of a streams group.
func (d *drawer) memberID() string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	b := make([]byte, 22)
	for i := range b {
		b[i] = digits[d.next()%64]
	}
	return string(b)
}

// canonicalUUID is a UUID in lower case, of five groups of hex digits.
func canonicalUUID(text string) (string, error) {
	ok := len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
	if _, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err != nil || !ok || strings.Count(text, "-") != 4 {
		return "", fmt.Errorf("id %q is no UUID", text)
	}
	return strings.ToLower(text), nil
}

// drawn plans with each draw of ids but the first, several at a time. The
// figures come in the order of the draws.
func drawn(in *Input, o *Options, assignor string, draws int) ([]map[Figure]float64, error) {
	all, failed := make([]map[Figure]float64, draws-1), make([]error, draws-1)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(draws-1, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(all)); k = next.Add(1) - 1 {
				r, err := runOnce(in, o, assignor, uint64(k)+2)
				if err != nil {
					failed[k] = err
					return
				}
				all[k] = r.figures(in, o)
			}
		})
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
