//go:build realkafka

package e2e

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Over SASL_SSL with SCRAM, as a user who may describe one group and its topics
// and nothing else: that group is read as far as the rights go, what is hidden
// is said, and a group without rights is named with the right that it needs.
func TestSecure(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "secure")
	for _, group := range []string{"shop", "secret"} {
		c.createTopic(t, group+"-in", 6)
		c.produce(t, group+"-in", 3000, 500, 400)
		a := c.startApp(t, appSpec{group: group, topic: group + "-in"})
		a.add(t, "pod-a")
		a.waitActive(t, "pod-a", 12)
		c.waitMembers(t, group, false, 2)
		c.waitCommitted(t, group, group+"-in", group+"-byvalue-repartition")
	}
	c.allow(t, userOps, kadm.NewACLs().Groups("shop").ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpDescribe))
	c.allow(t, userOps, kadm.NewACLs().Topics("shop-").ResourcePatternType(kadm.ACLPatternPrefixed).Operations(kadm.OpDescribe))
	ops := c.clientFile(t, userOps)
	run := func(t *testing.T, file string, args ...string) result {
		t.Helper()
		return c.secureRun(t, file, args...)
	}

	t.Run("describe", func(t *testing.T) {
		res := run(t, ops, "describe", "group", "shop", "-o", "json")
		d := parseGroup(t, res.stdout)
		if d.State != "Stable" || d.Totals.Active != 12 || d.Totals.Lag == nil || *d.Totals.Lag != 0 {
			t.Errorf("state %s, totals %+v", d.State, d.Totals)
		}
		open := c.describe(t, "shop")
		sameLines(t, "roles", d.holdings(false), open.holdings(false))
		for _, e := range d.Errors {
			if strings.Contains(e.Error, password(userOps)) {
				t.Errorf("the password is in an error: %s", e.Error)
			}
		}
		if strings.Contains(res.stdout+res.stderr, password(userOps)) {
			t.Error("the password is in the output")
		}
	})
	t.Run("sizes refused", func(t *testing.T) {
		// DescribeLogDirs wants DESCRIBE on the cluster: sizes stay unknown, the
		// rest is there.
		res := run(t, ops, "snapshot", "shop")
		d := parse(t, res.stdout)
		if sizes, ok := d["log_sizes"].([]any); ok && len(sizes) > 0 {
			t.Errorf("sizes came without the right: %v", sizes)
		}
		if !strings.Contains(res.stdout, `"log_dirs": "refused"`) && !strings.Contains(res.stdout, "CLUSTER_AUTHORIZATION_FAILED") {
			t.Errorf("nothing says that the sizes were refused:\n%s\n%s", res.stdout[:min(len(res.stdout), 2000)], res.stderr)
		}
	})
	t.Run("list", func(t *testing.T) {
		res := run(t, ops, "get", "groups", "-o", "json")
		if res.code != 0 || !strings.Contains(res.stdout, `"shop"`) || strings.Contains(res.stdout, `"secret"`) {
			t.Errorf("exit %d\n%s\n%s", res.code, res.stdout, res.stderr)
		}
	})
	t.Run("hidden group", func(t *testing.T) {
		res := run(t, ops, "describe", "group", "secret")
		if res.code != 1 || res.stdout != "" || !strings.Contains(res.stderr, "DESCRIBE") || !strings.Contains(res.stderr, `"secret"`) {
			t.Errorf("exit %d\nstdout: %s\nstderr: %s", res.code, res.stdout, res.stderr)
		}
	})
	t.Run("no rights", func(t *testing.T) {
		res := run(t, c.clientFile(t, userNobody), "get", "groups")
		if res.code != 0 || !strings.Contains(res.stderr, "no group is visible") || strings.Contains(res.stdout, "shop") {
			t.Errorf("exit %d\nstdout: %s\nstderr: %s", res.code, res.stdout, res.stderr)
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		file := c.clientFile(t, userOps)
		replaceInFile(t, file, password(userOps), "wrong")
		res := run(t, file, "describe", "group", "shop")
		if res.code != 1 || res.stdout != "" || !strings.Contains(res.stderr, `login refused for user "ops"`) || strings.Contains(res.stderr, "wrong\"") {
			t.Errorf("exit %d\nstdout: %s\nstderr: %s", res.code, res.stdout, res.stderr)
		}
	})
}

// secureRun runs streamctl over the SASL_SSL listener.
func (c *cluster) secureRun(t testing.TB, file string, args ...string) result {
	t.Helper()
	return runCmd(t, streamctlCmd(t.Context(), t, append(args, "--bootstrap-server", c.secure[0], "--command-config", file)...))
}

// A group of the streams protocol is refused whole while one of its topics is
// hidden: no topic is named by the broker, so the hint names them all. A classic
// group is read without its topics' offsets, and that is said.
func TestLeastRights(t *testing.T) {
	t.Parallel()
	c := env.cluster(t, "secure")
	for group, streams := range map[string]bool{"bills": true, "walks": false} {
		c.createTopic(t, group+".in", 6)
		c.produce(t, group+".in", 3000, 500, 400)
		a := c.startApp(t, appSpec{group: group, topic: group + ".in", streams: streams})
		a.add(t, "pod-a")
		a.waitActive(t, "pod-a", 12)
		c.waitMembers(t, group, streams, 2)
		c.waitCommitted(t, group, group+".in", group+"-byvalue-repartition")
		c.allow(t, userLeast, kadm.NewACLs().Groups(group).ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpDescribe))
	}
	least := c.clientFile(t, userLeast)

	res := c.secureRun(t, least, "describe", "group", "bills")
	if res.code != 1 || res.stdout != "" || !strings.Contains(res.stderr, "TOPIC_AUTHORIZATION_FAILED") || !strings.Contains(res.stderr, `"bills-"`) {
		t.Errorf("a streams group with hidden topics: exit %d\nstdout: %s\nstderr: %s", res.code, res.stdout, res.stderr)
	}
	res = c.secureRun(t, least, "describe", "group", "walks", "-o", "json")
	if d := parseGroup(t, res.stdout); d.Totals.Active != 12 || (d.Totals.Lag != nil && *d.Totals.Lag == 0 && len(d.Errors) == 0) || !strings.Contains(res.stdout, "not-visible") {
		t.Errorf("a classic group with hidden topics: exit %d, totals %+v\nfindings %v\nerrors %+v", res.code, d.Totals, d.codes(), d.Errors)
	}

	for _, group := range []string{"bills", "walks"} {
		c.allow(t, userLeast, kadm.NewACLs().Topics(group+".in").ResourcePatternType(kadm.ACLPatternLiteral).Operations(kadm.OpDescribe))
		c.allow(t, userLeast, kadm.NewACLs().Topics(group+"-").ResourcePatternType(kadm.ACLPatternPrefixed).Operations(kadm.OpDescribe))
		res := c.secureRun(t, least, "describe", "group", group, "-o", "json")
		if d := parseGroup(t, res.stdout); d.Totals.Active != 12 || d.Totals.Lag == nil || *d.Totals.Lag != 0 || strings.Contains(res.stdout, "not-visible") {
			t.Errorf("%s with the least rights: exit %d, totals %+v, findings %v, errors %+v", group, res.code, d.Totals, d.codes(), d.Errors)
		}
	}
}
