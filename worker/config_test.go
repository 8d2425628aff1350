package worker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// config is one that is complete.
func config() Config {
	return Config{
		Group: "shop", Topology: []Subtopology{{ID: 1, Sources: []string{"orders"}}}, NewProcessor: func(TaskID) Processor { return nil },
		Client: []kgo.Opt{kgo.SeedBrokers("localhost:9092")},
	}
}

// Each refusal says what is wrong, and with which subtopology.
func TestConfigIsRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		"worker: no group given":     func(c *Config) { c.Group = "" },
		"worker: no topology given":  func(c *Config) { c.Topology = nil },
		"worker: no processor given": func(c *Config) { c.NewProcessor = nil },
		"worker: no client options given: at least the seed brokers are needed": func(c *Config) { c.Client = nil },
		"worker: 1001 workers, must be 1 to 1000":                               func(c *Config) { c.Workers = 1001 },
		"worker: subtopology -1: ids begin with 0":                              func(c *Config) { c.Topology[0].ID = -1 },
		"worker: subtopology 1 is there twice":                                  func(c *Config) { c.Topology = append(c.Topology, c.Topology[0]) },
		"worker: subtopology 1 has neither sources nor repartition sources":     func(c *Config) { c.Topology[0].Sources = nil },
		`setting "max.learners": "-1" is not allowed: at least 1, or 0 for unlimited`: func(c *Config) {
			c.Settings = DefaultSettings()
			c.Settings.MaxLearners = -1
		},
	} {
		c := config()
		spoil(&c)
		if err := c.complete(); errorText(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestConfigHasDefaults(t *testing.T) {
	c := config()
	c.Heartbeat = time.Second
	if err := c.complete(); err != nil {
		t.Fatal(err)
	}
	if c.ClientID != "shop" || c.Workers != 1 || c.Settings != DefaultSettings() || len(c.Older) != 2 {
		t.Errorf("%+v", c)
	}
	got := [...]time.Duration{c.SessionTimeout, c.RebalanceTimeout, c.Heartbeat, c.CommitInterval, c.MetadataMaxAge}
	if want := [...]time.Duration{45 * time.Second, time.Minute, time.Second, 30 * time.Second, 5 * time.Minute}; got != want {
		t.Errorf("times %v, want %v", got, want)
	}
}
