package kclient

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/streamctl/streamctl/internal/snapshot"
)

// readVersions asks for the versions of the broker that answered first, or of
// all. It is a remark about the cluster: a failure of one broker shows
// elsewhere.
func (r *run) readVersions(ctx context.Context) {
	brokers := r.s.Brokers
	if !r.q.APIVersions {
		brokers = nil
		home, _ := r.c.homeHandle()
		for _, b := range r.s.Brokers {
			if r.c.sharesHandle(b.ID, home) {
				brokers = append(brokers, b)
			}
		}
		if len(brokers) == 0 && len(r.s.Brokers) > 0 && len(r.groups) > 0 {
			brokers = r.coordinatorOf(r.groups[0])
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, b := range brokers {
		wg.Go(func() {
			resp, err := r.c.apiVersions(ctx, b.ID)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			r.s.APIVersions = append(r.s.APIVersions, versionsFromWire(b.ID, resp))
		})
	}
	wg.Wait()
}

func (r *run) coordinatorOf(g *group) []snapshot.Broker {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.s.Brokers {
		if b.ID == g.node {
			return []snapshot.Broker{b}
		}
	}
	return r.s.Brokers[:1]
}

func (c *Client) sharesHandle(broker, handle int32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	seed, ok := c.same[broker]
	return broker == handle || ok && seed == handle
}

func (c *Client) apiVersions(ctx context.Context, id int32) (*kmsg.ApiVersionsResponse, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = defaultClientID, c.soft
	kresp, err := c.sendBeside(ctx, id, req)
	if err != nil {
		return nil, err
	}
	resp := kresp.(*kmsg.ApiVersionsResponse)
	return resp, codeError(resp.ErrorCode)
}

func versionsFromWire(broker int32, resp *kmsg.ApiVersionsResponse) snapshot.APIVersions {
	out := snapshot.APIVersions{Broker: broker, Keys: make([]snapshot.APIRange, len(resp.ApiKeys))}
	for i, k := range resp.ApiKeys {
		out.Keys[i] = snapshot.APIRange{Key: k.ApiKey, Min: k.MinVersion, Max: k.MaxVersion}
	}
	finalized := map[string]int16{}
	for _, f := range resp.FinalizedFeatures {
		finalized[f.Name] = f.MaxVersionLevel
	}
	for _, f := range resp.SupportedFeatures {
		level, ok := finalized[f.Name]
		if !ok {
			level = -1
		}
		out.Features = append(out.Features, snapshot.APIFeature{Name: f.Name, SupportedMin: f.MinVersion, SupportedMax: f.MaxVersion, Finalized: level})
	}
	return out
}

// knowsStreams reports whether a broker can describe streams groups: it has API
// 89, and the feature, where brokers have it, is not off.
func knowsStreams(v snapshot.APIVersions) bool {
	for _, f := range v.Features {
		if f.Name == "streams.version" && f.Finalized < 1 {
			return false
		}
	}
	return slices.ContainsFunc(v.Keys, func(k snapshot.APIRange) bool { return k.Key == keyStreamsDescribe })
}

// ReleaseOf names the Kafka release that a broker's API versions fit, for
// example "v4.3", "at least v4.4" or "between v3.8 and v3.9". API versions never
// tell the patch level. "" when nothing is known.
func ReleaseOf(v *snapshot.APIVersions) string {
	if len(v.Keys) == 0 {
		return ""
	}
	known := new(kversion.Versions)
	for _, k := range v.Keys {
		known.SetMaxKeyVersion(k.Key, k.Max)
	}
	return known.VersionGuess()
}
