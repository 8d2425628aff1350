//go:build realkafka

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// clusterSpec says what to start.
type clusterSpec struct {
	version string
	brokers int
	props   map[string]string // on top of those of every broker
	secure  bool              // adds a SASL_SSL listener, SCRAM users and ACLs
}

// cluster is a running cluster; node i is at index i-1.
type cluster struct {
	spec   clusterSpec
	nodes  []*proc
	addrs  []string // plaintext
	secure []string // SASL_SSL, with spec.secure
	pki    *pki     // with spec.secure
	client *kgo.Client
	admin  *kadm.Client
}

// delayOfWorkers is how long the brokers of "workers" wait for members of a new
// group.
const delayOfWorkers = time.Second

// sharedClusters are the clusters that tests may share, by name.
func sharedClusters() map[string]clusterSpec {
	return map[string]clusterSpec{
		"4.3.1": {version: v431, brokers: 1},
		"4.4.0": {version: v440, brokers: 1, props: map[string]string{
			"group.streams.min.task.offset.interval.ms": "1000", // members report their positions that often;
			"group.streams.task.offset.interval.ms":     "1000", // the default is a minute
		}},
		"three": {version: v431, brokers: 3},
		"workers": {version: v431, brokers: 3, props: map[string]string{
			"group.initial.rebalance.delay.ms": strconv.FormatInt(delayOfWorkers.Milliseconds(), 10),
		}},
		"secure": {version: v431, brokers: 1, secure: true},
		// As brokers are by default: whoever asks for a topic by producing makes it.
		"creating": {version: v431, brokers: 1, props: map[string]string{"auto.create.topics.enable": "true"}},
	}
}

// brokerProps is what every broker gets; small buffers let it live in a small
// heap, and the delays are those of a test.
func brokerProps(replicas int) map[string]string {
	rf := strconv.Itoa(replicas)
	return map[string]string{
		"process.roles":                                    "broker,controller",
		"controller.listener.names":                        "CONTROLLER",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"listener.security.protocol.map":                   "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
		"num.network.threads":                              "2",
		"num.io.threads":                                   "4",
		"log.cleaner.dedupe.buffer.size":                   "4194304",
		"auto.create.topics.enable":                        "false",
		"default.replication.factor":                       rf,
		"offsets.topic.replication.factor":                 rf,
		"offsets.topic.num.partitions":                     "8",
		"transaction.state.log.replication.factor":         rf,
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": rf,
		"share.coordinator.state.topic.min.isr":            "1",
		"group.initial.rebalance.delay.ms":                 "0",
		"group.streams.initial.rebalance.delay.ms":         "0",
		"group.streams.min.heartbeat.interval.ms":          "1000",
		"group.streams.heartbeat.interval.ms":              "1000",
		"broker.session.timeout.ms":                        "4000",
		"broker.heartbeat.interval.ms":                     "500",
	}
}

func (r *rig) startCluster(name string, spec clusterSpec) (*cluster, error) {
	c := &cluster{spec: spec}
	dir := filepath.Join(r.work, "cluster-"+name)
	ports, err := freePorts(3 * spec.brokers)
	if err != nil {
		return nil, err
	}
	var voters []string
	for i := range spec.brokers {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, ports[3*i]))
	}
	id := make([]byte, 16)
	rand.Read(id)
	id[0] &= 0x7f // text that begins with "-" would be taken for a flag
	format := []string{"-t", base64.RawURLEncoding.EncodeToString(id)}
	if spec.secure {
		if c.pki, err = newPKI(filepath.Join(dir, "tls")); err != nil {
			return nil, err
		}
		format = append(format, scramArgs()...)
	}
	for i := range spec.brokers {
		node := filepath.Join(dir, strconv.Itoa(i+1))
		props := brokerProps(spec.brokers)
		props["node.id"] = strconv.Itoa(i + 1)
		props["log.dirs"] = filepath.Join(node, "data")
		props["controller.quorum.voters"] = strings.Join(voters, ",")
		plain, secure := fmt.Sprintf("127.0.0.1:%d", ports[3*i+1]), fmt.Sprintf("127.0.0.1:%d", ports[3*i+2])
		advertised := "PLAINTEXT://" + plain
		c.addrs = append(c.addrs, plain)
		if spec.secure {
			c.secure = append(c.secure, secure)
			advertised += ",SASL_SSL://" + secure
			maps.Copy(props, c.pki.brokerProps())
		}
		props["advertised.listeners"] = advertised
		props["listeners"] = advertised + fmt.Sprintf(",CONTROLLER://127.0.0.1:%d", ports[3*i])
		maps.Copy(props, spec.props)
		file := filepath.Join(node, "server.properties")
		if err := writeProps(file, props); err != nil {
			return nil, err
		}
		argv := r.java(spec.version, 512, "Watched", "--format", "-c", file)
		argv = append(argv, format...)
		argv = append(argv, "--", "kafka.Kafka", file)
		p, err := r.start(fmt.Sprintf("broker %d of %s", i+1, name), argv)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, p)
	}
	return c, c.waitReady(60 * time.Second)
}

// waitReady waits until every broker is registered and groups can be described:
// the first to ask for a coordinator makes the offsets topic.
func (c *cluster) waitReady(patience time.Duration) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(c.addrs...), kgo.ClientID("rig"), kgo.MetadataMinAge(100*time.Millisecond),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.ProducerLinger(20*time.Millisecond),
		// A broker that has just been told of a topic may not know it yet.
		kgo.UnknownTopicRetries(-1), kgo.RecordDeliveryTimeout(60*time.Second),
	)
	if err != nil {
		return err
	}
	c.client, c.admin = client, kadm.NewClient(client)
	c.admin.SetTimeoutMillis(10_000)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		for _, n := range c.nodes {
			if n.ended() {
				return n.failure("ended while starting")
			}
		}
		brokers, err := c.admin.ListBrokers(ctx)
		if err == nil && len(brokers) == len(c.nodes) {
			if _, err = c.admin.DescribeGroups(ctx, "no-such-group"); err == nil {
				return nil
			}
		}
		if ctx.Err() != nil {
			return c.nodes[0].failure(fmt.Sprintf("not ready after %v (%d brokers, %v)", patience, len(brokers), err))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// createTopic makes a topic with its -out topic, and fails the test when that
// does not work.
func (c *cluster) createTopic(t testing.TB, topic string, partitions int32) {
	t.Helper()
	for _, name := range []string{topic, topic + "-out"} {
		tried := false
		eventually(t, 20*time.Second, "topic "+name+" created", func() bool {
			_, err := c.admin.CreateTopic(t.Context(), partitions, -1, nil, name)
			if err != nil {
				t.Logf("create %s: %v", name, err)
			}
			// An answer that came too late may have been a yes.
			done := err == nil || tried && errors.Is(err, kerr.TopicAlreadyExists)
			tried = true
			return done
		})
	}
}

// produce writes n records kX:vY spread over all partitions and waits for the
// acknowledgements. Keys and values repeat, so that both stores of StreamsApp
// fill.
func (c *cluster) produce(t testing.TB, topic string, n, keys, values int) {
	t.Helper()
	var failed error
	for i := range n {
		rec := &kgo.Record{Topic: topic, Key: []byte("k" + strconv.Itoa(i%keys)), Value: []byte("v" + strconv.Itoa(i%values))}
		c.client.Produce(t.Context(), rec, func(_ *kgo.Record, err error) {
			if err != nil {
				failed = err
			}
		})
	}
	if err := c.client.Flush(t.Context()); err != nil || failed != nil {
		t.Fatalf("produce to %s: %v, %v", topic, err, failed)
	}
}

// freePorts gives ports of the loopback that nobody listens on. They are all
// held open until the last is found, so that they differ.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// writeProps writes a Java properties file; no key or value of ours needs an
// escape but the backslash.
func writeProps(file string, props map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s\n", k, strings.ReplaceAll(props[k], `\`, `\\`))
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
