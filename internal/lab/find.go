package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNoLab is that no lab with a live job runs; ErrManyLabs that several do.
var (
	ErrNoLab    = errors.New("no lab with a live job runs on this machine")
	ErrManyLabs = errors.New("several labs run")
)

// Remote is a running lab, seen from another process of the same user.
type Remote struct {
	Port int // of its first broker
	http *http.Client
}

// Find finds the lab to steer among those whose sockets are in a directory: the
// one on this port; with port 0 the one that listens at one of the addresses,
// else the only one, unless an address is of this machine: whoever names a lab
// that has ended must not steer somebody else's.
func Find(ctx context.Context, dir string, port int, addresses []string) (*Remote, error) {
	list, err := ports(ctx, dir)
	if err != nil {
		return nil, err
	}
	here := portsHere(addresses)
	if at := slices.IndexFunc(here, func(n int) bool { return slices.Contains(list, n) }); port == 0 && at >= 0 {
		port = here[at]
	}
	switch {
	case port != 0 && !slices.Contains(list, port):
		return nil, fmt.Errorf("port %d: %w", port, ErrNoLab)
	case port != 0:
	case len(list) == 0:
		return nil, ErrNoLab
	case len(here) > 0:
		return nil, fmt.Errorf("port %s: %w; there are labs on ports %s", joined(here), ErrNoLab, joined(list))
	case len(list) == 1:
		port = list[0]
	default:
		return nil, fmt.Errorf("%w: ports %s", ErrManyLabs, joined(list))
	}
	path := filepath.Join(dir, strconv.Itoa(port)+socketEnd)
	return &Remote{Port: port, http: &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
	}}}, nil
}

// portsHere are the ports of those addresses that are of this machine's loopback
// interface, where labs listen.
func portsHere(addresses []string) []int {
	var out []int
	for _, a := range addresses {
		host, p, err := net.SplitHostPort(a)
		if err != nil {
			continue
		}
		ip := net.ParseIP(host)
		if n, err := strconv.Atoi(p); err == nil && (host == "localhost" || ip != nil && ip.IsLoopback()) {
			out = append(out, n)
		}
	}
	return out
}

func joined(list []int) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = strconv.Itoa(n)
	}
	return strings.Join(out, ", ")
}

// Do has the lab carry out an order. What failed of it is in the answer.
func (r *Remote) Do(ctx context.Context, o Order) (Answer, error) {
	var a Answer
	b, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://lab/", bytes.NewReader(b))
	if err != nil {
		return a, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return a, fmt.Errorf("the lab on port %d did not answer: %w", r.Port, err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body := io.LimitReader(resp.Body, 16<<20)
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(body, 1<<10)) // what could be read of it
		return a, fmt.Errorf("the lab on port %d: %s", r.Port, strings.TrimSpace(string(text)))
	}
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		return a, fmt.Errorf("answer of the lab on port %d: %w", r.Port, err)
	}
	return a, nil
}
