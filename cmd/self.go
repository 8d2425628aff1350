package cmd

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/model"
)

// selfNames are the names that the instance on this machine may have in a
// group: first names of the host, then addresses.
func (d *deps) selfNames() [][]string {
	var names, addrs []string
	add := func(n string) {
		if n = strings.TrimSpace(n); n != "" && n != "localhost" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if h, ok := d.env("HOSTNAME"); ok {
		add(h)
	}
	if h, err := os.Hostname(); err == nil && len(names) == 0 {
		add(h)
	}
	for _, n := range slices.Clone(names) {
		short, _, _ := strings.Cut(n, ".")
		add(short)
	}
	if list, err := net.InterfaceAddrs(); err == nil {
		for _, a := range list {
			if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
				addrs = append(addrs, ip.IP.String())
			}
		}
	}
	slices.Sort(addrs)
	return [][]string{names, addrs}
}

// selfIn finds the instance of this machine in groups. Names come first,
// addresses, which several instances may share, count only where no name does.
func selfIn(groups []*model.Group, mine [][]string) (*model.Instance, *model.Group, error) {
	var all []string
	for _, names := range mine {
		all = append(all, names...)
		var in *model.Instance
		var of *model.Group
		var found []string
		for _, g := range groups {
			for i := range g.Instances {
				if x := &g.Instances[i]; slices.ContainsFunc(names, func(n string) bool { return isNamed(x, n) }) {
					in, of = x, g
					found = append(found, fmt.Sprintf("%s (%s) in group %s", x.Name, x.ID, g.ID))
				}
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return in, of, nil
		}
		return nil, nil, errs.WithHint(fmt.Errorf("--self: %s means several instances: %s", strings.Join(names, ", "), strings.Join(found, "; ")),
			"give each its own client id or host name, or name the instance")
	}
	return nil, nil, errs.WithHint(fmt.Errorf("--self: no visible stream group has an instance named %s", strings.Join(all, ", ")),
		"the host name must be the client id or the host of the instance; name the instance, or set HOSTNAME")
}

// isNamed reports whether a whole name of the instance is this one. A prefix
// would do for a person, but not here: it may be that of a neighbour.
func isNamed(in *model.Instance, name string) bool {
	return in.ID == name || in.Name == name || strings.TrimPrefix(in.Host, "/") == name || slices.ContainsFunc(in.Members, func(m model.Member) bool {
		return m.ClientID == name || model.ClientBase(m.ClientID) == name || m.InstanceID == name || strings.TrimPrefix(m.Host, "/") == name || strings.TrimPrefix(m.Address, "/") == name
	})
}
