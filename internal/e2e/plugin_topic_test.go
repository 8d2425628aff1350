//go:build realkafka

package e2e

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// The control topic is deleted while a marked instance is drained: there are no
// marks any more, the learners are dropped, and nobody makes the topic again,
// though the brokers would for any producer that asks.
func pluginTopicDeleted(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "creating")
	p := c.startPlugin(t, "plug-deleted", map[string]string{"app.restore.delay.ms": "20000"})
	p.startWithState(t)
	writing := p.write300(t, stateRecords)
	before := p.owners(t)
	p.mark(t, "i2", "mark-1", 0)
	p.rebalance(t)
	eventually(t, 20*time.Second, "i1 learns the six tasks of i2", func() bool {
		_, learners := p.lastShare(t, "i1")
		return learners == 6
	})
	if _, err := c.admin.DeleteTopics(t.Context(), p.topic.Name()); err != nil {
		t.Fatal(err)
	}
	eventually(t, 20*time.Second, "i1 learns nothing more", func() bool {
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
