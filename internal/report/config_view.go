package report

import "github.com/streamctl/streamctl/internal/render"

// ConfigView is what `config view` shows: where each setting comes from.
type ConfigView struct {
	Head
	Context *string     `json:"context"`
	File    *string     `json:"file"`
	Keys    []ConfigKey `json:"keys"`
}

// ConfigKey is one setting. A secret has no value, only whether it is set.
type ConfigKey struct {
	Key    string  `json:"key"`
	Value  *string `json:"value"`
	Set    *bool   `json:"set"` // of a secret; null for what is none
	Source string  `json:"source"`
	Where  *string `json:"where"` // the flag, variable or file
}

// NewConfigView makes the report; the keys keep their order.
func NewConfigView(context, file string, keys []ConfigKey) *ConfigView {
	return &ConfigView{Head: head("ConfigView"), Context: optional(context), File: optional(file), Keys: keys}
}

// Text writes the table.
func (v *ConfigView) Text(p *render.Page) { p.Rows(v.Grid()) }

// Grid is a row a setting.
func (v *ConfigView) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "KEY", Cap: 28}, render.Column{Head: "VALUE", Cap: 30}, render.Column{Head: "SOURCE"},
		render.Column{Head: "WHERE", Cap: 30, Drop: 1}, render.Column{Head: "SET", In: render.InMachine},
	)
	for _, k := range v.Keys {
		value := optText(k.Value)
		if k.Set != nil && *k.Set {
			value = value.Shown("(secret, set)")
		}
		set := render.Dash()
		if k.Set != nil {
			set = render.Bool(k.Set)
		}
		g.Row(render.Text(k.Key), value, render.Text(k.Source), optText(k.Where), set)
	}
	return g
}

// ContextList is what `config contexts` shows.
type ContextList struct {
	Head
	Items []Context `json:"items"`
}

// Context is one context of the configuration file.
type Context struct {
	Name      string   `json:"name"`
	Current   bool     `json:"current"`
	Bootstrap []string `json:"bootstrap_servers"`
	Group     *string  `json:"group"`
	ReadOnly  bool     `json:"readonly"`
}

// NewContextList makes the report; the contexts keep their order.
func NewContextList(items []Context) *ContextList {
	return &ContextList{Head: head("ContextList"), Items: items}
}

// Text writes the table.
func (l *ContextList) Text(p *render.Page) { p.Rows(l.Grid()) }

// Grid is a row a context.
func (l *ContextList) Grid() *render.Grid {
	g := render.NewGrid(
		render.Column{Head: "CONTEXT", Cap: nameCap}, render.Column{Head: "CURRENT"},
		render.Column{Head: "BOOTSTRAP SERVERS", Cap: 32}, render.Column{Head: "GROUP", Cap: nameCap, Drop: 1},
		render.Column{Head: "READONLY", Drop: 2},
	)
	for _, c := range l.Items {
		g.Row(render.Text(c.Name), render.Bool(&c.Current), render.List(c.Bootstrap, ","), optText(c.Group), render.Bool(&c.ReadOnly))
	}
	return g
}

// Version is what `version` shows.
type Version struct {
	Head
	Client  ClientVersion   `json:"client"`
	Brokers []BrokerVersion `json:"brokers"` // by id; empty when none was asked
	Read
}

// ClientVersion is this build.
type ClientVersion struct {
	Version  string  `json:"version"`
	Commit   *string `json:"commit"`
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
}

// BrokerVersion is what a broker's APIs tell about it.
type BrokerVersion struct {
	ID            int32   `json:"id"`
	Address       string  `json:"address"`
	Version       *string `json:"version"` // as far as its APIs tell, for example "4.3"
	StreamsGroups *bool   `json:"streams_groups"`
}

// NewVersion makes the report; the brokers keep their order.
func NewVersion(client ClientVersion, brokers []BrokerVersion, o ItemOptions) *Version {
	return &Version{Head: head("Version"), Client: client, Brokers: brokers, Read: o.read(nil)}
}

// Text writes the client's line and a table of the brokers.
func (v *Version) Text(p *render.Page) {
	line := "streamctl " + render.Escape(v.Client.Version)
	if v.Client.Commit != nil {
		line += " (" + render.Escape(*v.Client.Commit) + ")"
	}
	p.Line(2, line+", "+render.Escape(v.Client.Go)+", "+render.Escape(v.Client.Platform))
	if len(v.Brokers) == 0 {
		return
	}
	g := render.NewGrid(
		render.Column{Head: "BROKER", Right: true}, render.Column{Head: "ADDRESS", Cap: 32},
		render.Column{Head: "KAFKA"}, render.Column{Head: "STREAMS GROUPS"},
	)
	for _, b := range v.Brokers {
		kafka := optText(b.Version)
		if b.Version != nil {
			kafka = kafka.Suffix("~")
		}
		g.Row(render.Num(b.ID), render.Text(b.Address), kafka, render.Bool(b.StreamsGroups))
	}
	p.Blank()
	p.Table(g)
}
