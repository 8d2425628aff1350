package cmd

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
	"github.com/streamctl/streamctl/internal/progress"
	"github.com/streamctl/streamctl/internal/report"
)

// When time runs out on a group that is Stable the end says what keeps it from
// rest; only where it is not, that a member may hold the others up.
func TestRebalanceThatIsNotAtRest(t *testing.T) {
	for _, c := range []struct{ state, line, failure string }{
		{model.StateStable, "not at rest: shop: a planned rebalance is overdue", "is Stable and was not at rest after 30s: a planned rebalance is overdue"},
		{"PreparingRebalance", "not over: shop is not Stable again", "was not Stable again after 30s"},
	} {
		o := &rebalanceOptions{}
		o.group = "shop"
		a := &asking{
			o: o, s: askSettings{timeout: 30 * time.Second}, asked: []report.AskedOnce{{}}, last: &model.Group{State: c.state},
			calm: progress.Status{Blockers: []progress.Blocker{{Why: "a planned rebalance is overdue"}}},
		}
		res := report.ChangeResult{}
		err := a.onceResult(&res, true)
		if err == nil || !strings.Contains(err.Error(), c.failure) || errs.ExitCode(err) != errs.TimedOut {
			t.Errorf("%s: %v", c.state, err)
		}
		if len(res.Text) != 1 || !strings.Contains(res.Text[0].Text, c.line) {
			t.Errorf("%s: %+v", c.state, res.Text)
		}
	}
	if err := notOver("shop", "state X: ", timeoutError{time.Second}); err.Error() != `group "shop" was asked for a rebalance that is not over: state X: --timeout of 1s is over` {
		t.Error(err)
	}
	if other := errors.New("refused"); notOver("shop", "", other) != other { //nolint:errorlint // the very same
		t.Error("an error that is no timeout is another one")
	}
}
