package seat

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Network is the connections of one instance. It can be cut, as by a crash or
// a pulled cable, so that no client gets to say goodbye.
type Network struct {
	mu    sync.Mutex
	cut   bool
	conns map[*wire]struct{}
}

// NewNetwork is a network without connections.
func NewNetwork() *Network { return &Network{conns: map[*wire]struct{}{}} }

// errCut is what a dial over a cut network ends with: the error of a host that
// does not answer, which clients try again.
func errCut() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("the network of this instance is cut")}
}

// Cut closes all connections and refuses new ones until Restore.
func (n *Network) Cut() {
	n.mu.Lock()
	n.cut = true
	open := n.conns
	n.conns = map[*wire]struct{}{}
	n.mu.Unlock()
	for w := range open {
		_ = w.Conn.Close()
	}
}

// Restore lets new connections through again.
func (n *Network) Restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = false
}

type dialer = func(ctx context.Context, network, host string) (net.Conn, error)

// Over gives opts with a dialer that goes through this network. It is the one
// that a client with opts has, its TLS included.
func (n *Network) Over(opts []kgo.Opt) ([]kgo.Opt, error) {
	probe, err := kgo.NewClient(append(slices.Clone(opts), kgo.DisableClientMetrics())...)
	if err != nil {
		return nil, err
	}
	dial, _ := probe.OptValue(kgo.Dialer).(func(context.Context, string, string) (net.Conn, error))
	probe.Close()
	return append(slices.Clone(opts), kgo.DialTLSConfig(nil), kgo.Dialer(n.through(dial))), nil
}

func (n *Network) through(dial dialer) dialer {
	return func(ctx context.Context, network, host string) (net.Conn, error) {
		if n.isCut() {
			return nil, errCut()
		}
		c, err := dial(ctx, network, host)
		if err != nil {
			return nil, err
		}
		w := &wire{Conn: c, of: n}
		n.mu.Lock()
		refused := n.cut
		if !refused {
			n.conns[w] = struct{}{}
		}
		n.mu.Unlock()
		if refused {
			_ = c.Close()
			return nil, errCut()
		}
		return w, nil
	}
}

func (n *Network) isCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

// wire is a connection that the network forgets when it is closed.
type wire struct {
	net.Conn
	of *Network
}

// Close closes the connection.
func (w *wire) Close() error {
	w.of.mu.Lock()
	delete(w.of.conns, w)
	w.of.mu.Unlock()
	return w.Conn.Close()
}
