package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/streamctl/streamctl/internal/errs"
)

// Connection makes of what was resolved a Connection: it opens the stores,
// reads the login and checks that all of it fits together. Nothing is sent.
// Every error is of exit code 2 and holds no secret.
func (r *Resolved) Connection() (*Connection, []Warning, error) {
	c := &Connection{
		ClientID:       r.Text("client.id"),
		RequestTimeout: r.Duration(KeyRequestTimeout),
		DialTimeout:    r.Duration("socket.connection.setup.timeout.ms"),
	}
	if c.ClientID == "" {
		c.ClientID = "streamctl"
	}
	b := &builder{Resolved: r}
	var err error
	if c.Bootstrap, err = b.brokers(); err != nil {
		return nil, b.warnings, err
	}
	login, encrypted, err := b.protocol()
	if err != nil {
		return nil, b.warnings, err
	}
	if encrypted {
		if err := b.tls(c); err != nil {
			return nil, b.warnings, err
		}
	}
	if login {
		if c.SASL, err = b.sasl(); err != nil {
			return nil, b.warnings, err
		}
	}
	return c, b.warnings, nil
}

// builder collects the warnings of one Connection.
type builder struct {
	*Resolved
	warnings []Warning
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, Warning(fmt.Sprintf(format, args...)))
}

// errorf is an error about the value of one key; it says where that was set.
func (b *builder) errorf(key, format string, args ...any) error {
	where := ""
	if s := b.settings[key]; s.IsSet() {
		where = s.Origin + ": "
		if s.Source == FromFile {
			where += fmt.Sprintf("%q: ", s.Key.javaName(s.Origin))
		}
	}
	return errs.WithCode(fmt.Errorf("%s%w", where, fmt.Errorf(format, args...)), errs.Usage)
}

func (b *builder) brokers() ([]string, error) {
	var out []string
	for _, text := range b.List(KeyBootstrap) {
		addr, err := brokerAddr(text)
		if err != nil {
			return nil, b.errorf(KeyBootstrap, "broker %q: %w", withoutUser(text), err)
		}
		out = append(out, addr)
	}
	if len(out) == 0 {
		hint := "give --bootstrap-server HOST:PORT, set STREAMCTL_BOOTSTRAP_SERVER, or write a context into the configuration file"
		if len(b.Contexts) > 0 && b.Context == "" {
			hint = "no context is in use: give --context, one of " + strings.Join(b.Contexts, ", ") + ", or --bootstrap-server HOST:PORT"
		}
		return nil, errs.WithHint(errs.Usagef("no broker is given"), hint)
	}
	return out, nil
}

// brokerAddr makes host:port of what people write: a listener name in front
// goes, as in Java; a missing port is 9092.
func brokerAddr(text string) (string, error) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
		if strings.Count(text, ":") == 1 || strings.ContainsAny(bare, "[]/") || bare == "" {
			return "", fmt.Errorf("want HOST:PORT")
		}
		host, port = bare, "9092"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("the port must be a number from 1 to 65535")
	}
	if host == "" || strings.ContainsAny(host, " \t/@") {
		return "", fmt.Errorf("want HOST:PORT")
	}
	return net.JoinHostPort(host, port), nil
}

// protocol reads security.protocol and warns when keys are set that it does
// not look at.
func (b *builder) protocol() (login, encrypted bool, err error) {
	key := b.settings["security.protocol"]
	switch strings.ToUpper(key.text()) {
	case "PLAINTEXT", "":
	case "SSL":
		encrypted = true
	case "SASL_PLAINTEXT":
		login = true
	case "SASL_SSL":
		login, encrypted = true, true
	default:
		return false, false, b.errorf("security.protocol", "%q is not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL", key.text())
	}
	for _, part := range []struct {
		prefix string
		on     bool
		want   string
	}{{"ssl.", encrypted, "SSL or SASL_SSL"}, {"sasl.", login, "SASL_SSL or SASL_PLAINTEXT"}} {
		for _, k := range Keys() {
			if s := b.settings[k.Name]; !part.on && strings.HasPrefix(k.Name, part.prefix) && s.IsSet() && s.text() != "" {
				b.warn("%q is set but has no effect: security.protocol is %s; is %s meant?", k.Name, strings.ToUpper(key.text()), part.want)
				break
			}
		}
	}
	return login, encrypted, nil
}
