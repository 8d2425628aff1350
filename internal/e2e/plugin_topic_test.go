//go:build realkafka

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/streamctl/streamctl/internal/control"
)

// The control topic is deleted while a marked instance is drained: there are no
// marks any more, the learners are dropped, and nobody makes the topic again,
// though the brokers would for any producer that asks.
func pluginTopicDeleted(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "creating")
	p := c.startPlugin(t, "plug-deleted", map[string]string{"app.restore.delay.ms": "60000", "streamctl.followup.interval.ms": "3000"})
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	before := p.owners(t)
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	eventually(t, 20*time.Second, "i1 learns the six tasks of i2", func() bool {
		_, learners := p.lastShare(t, "i1")
		return learners == 6
	})
	p.deleteTopic(t, "i2", "mark-1")
	// The leader's consumer has to find out, which takes it a time-out and another round.
	eventually(t, 40*time.Second, "i1 learns nothing more", func() bool {
		_, learners := p.lastShare(t, "i1")
		return learners == 0
	})
	p.settle(t)
	if got := p.owners(t); !maps.Equal(got, before) {
		t.Errorf("something moved: %v, before %v", got, before)
	}
	p.rebalance(t)
	topics, err := c.admin.ListTopics(t.Context(), p.topic.Name())
	if err != nil || topics.Has(p.topic.Name()) {
		t.Errorf("the topic is there again: %v", err)
	}
	writing.check(t)
}

// The control topic is deleted and made anew while learners run, with another
// mark in it: that one holds, and the one that is gone does not.
func pluginTopicAnew(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "creating")
	p := c.startPlugin(t, "plug-anew", map[string]string{"app.restore.delay.ms": "60000", "streamctl.followup.interval.ms": "3000"})
	p.startWithState(t)
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	learn := func(instance string) {
		t.Helper()
		eventually(t, 40*time.Second, instance+" learns six tasks, and no other learns", func() bool {
			_, one := p.lastShare(t, "i1")
			_, two := p.lastShare(t, "i2")
			return one+two == 6 && (instance == "i1") == (one == 6)
		})
	}
	learn("i1")
	p.deleteTopic(t, "i2", "mark-1")
	p.mark(t, "i1", "mark-2", 0)
	p.rebalance(t)
	learn("i2")
	p.waitTold(t, "i1", "mark-2")
}

// waitTold waits until a leader tells of a mark.
func (p *pluginApp) waitTold(t *testing.T, instance, mark string) {
	t.Helper()
	eventually(t, 20*time.Second, "the leader tells of "+mark, func() bool {
		s := p.newestRound(t, "i1", "i2")
		return s != nil && s.ControlError == "" && slices.ContainsFunc(s.Round.Instances, func(i control.RoundInstance) bool {
			return i.ID == p.process(instance) && slices.Equal(i.Marks, []string{mark})
		})
	})
}

// deleteTopic deletes the control topic once the leader has told of a mark, so
// that no record is under way to it, and waits until it is gone.
func (p *pluginApp) deleteTopic(t *testing.T, instance, mark string) {
	t.Helper()
	p.waitTold(t, instance, mark)
	if _, err := p.c.admin.DeleteTopics(t.Context(), p.topic.Name()); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "the topic is gone", func() bool {
		topics, err := p.c.admin.ListTopics(t.Context(), p.topic.Name())
		return err == nil && !topics.Has(p.topic.Name())
	})
}

// An app with a login of its own that may not read the control topic goes on
// without the marks, and its leader says why; once it may, they take effect.
func pluginUnreadable(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "secure")
	c.allow(t, userApp, kadm.NewACLs().Groups("plug-secure").ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpRead, kadm.OpDescribe))
	c.allow(t, userApp, kadm.NewACLs().Topics("plug-secure-").ResourcePatternType(kadm.ACLPatternPrefixed).Operations(kadm.OpAll))
	settings := c.login(userApp)
	settings["bootstrap.servers"] = strings.Join(c.secure, ",")
	p := c.startPlugin(t, "plug-secure", settings)
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	before := p.owners(t)

	refused := kadm.NewACLs().Topics(p.topic.Name()).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpRead).Deny("User:" + userApp).DenyHosts("*")
	if res, err := c.admin.CreateACLs(t.Context(), refused); err != nil || res[0].Err != nil {
		t.Fatal(err, res)
	}
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	p.settle(t)
	eventually(t, 20*time.Second, "the leader says that it cannot read the marks", func() bool {
		s := p.newestRound(t, "i1", "i2")
		return s != nil && strings.Contains(s.ControlError, "needs READ")
	})
	if got := p.owners(t); !maps.Equal(got, before) {
		t.Errorf("something moved: %v, before %v", got, before)
	}

	if res, err := c.admin.DeleteACLs(t.Context(), refused); err != nil || res[0].Err != nil {
		t.Fatal(err, res)
	}
	p.rebalance(t)
	p.waitCounts(t, time.Minute, map[string]int{"i1": 12, "i2": 0})
	eventually(t, 10*time.Second, "the leader tells of the drained instance", func() bool {
		s := p.newestRound(t, "i1", "i2")
		return s != nil && s.ControlError == "" && drained(s, p.process("i2"), "mark-1")
	})
	writing.check(t)
}
