package controltopic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/streamctl/streamctl/internal/control"
	"github.com/streamctl/streamctl/internal/controltopic"
	"github.com/streamctl/streamctl/internal/errs"
)

// A topic that somebody made with several partitions is refused by whoever
// writes, and whoever reads is told that the others are not seen.
func TestSeveralPartitions(t *testing.T) {
	r := newRig(t)
	r.createWith(3, map[string]*string{"cleanup.policy": kadm.StringPtr("compact")})
	topic := r.open()
	_, err := topic.Write(t.Context(), control.Withdrawal("7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001"))
	several, ok := errors.AsType[*controltopic.PartitionsError](err)
	if !ok || several.Partitions != 3 || len(errs.Hints(err)) != 1 {
		t.Errorf("write: %v, hints %v", err, errs.Hints(err))
	}
	c, err := topic.Read(t.Context())
	if err != nil || c.Missing || c.Skipped == nil || !strings.Contains(c.Skipped.Error(), `control topic "clicks-streamctl-control" has 3 partitions`) {
		t.Errorf("read: %v, %+v", err, c)
	}
}
