package config

import (
	"strings"
	"unicode"
)

// Kind is the form of a setting's value.
type Kind int

// The kinds of value.
const (
	Text     Kind = iota // any text
	List                 // texts, separated by commas or given several times
	Switch               // true or false
	Duration             // 30s, 5m, 1h30m
	Number               // a whole number, 0 or more
	Millis               // a Kafka setting in milliseconds
	Path                 // a file; relative to the file that names it
)

// Key describes one setting. A name with dots is Kafka's own and means what
// it means to a Java client; the others are streamctl's and are the names of
// its flags.
type Key struct {
	Name    string
	Kind    Kind
	Secret  bool     // never shown; a context may give NAME-file or NAME-env instead
	Default string   // "" = not set
	Doc     string   // one line
	OneOf   []string // the only values allowed; nil: any
	Own     bool     // a dotted key that Java clients do not have
}

// Kafka tells whether the name is one of Kafka's (with dots) rather than the
// name of a streamctl flag.
func (k Key) Kafka() bool { return strings.Contains(k.Name, ".") }

// Env is the environment variable of the setting: STREAMCTL_ and the name in
// capitals, with "_" for "-" and ".".
func (k Key) Env() string { return EnvName(k.Name) }

// EnvName returns the environment variable that stands for a flag or setting.
func EnvName(name string) string {
	return "STREAMCTL_" + strings.Map(func(r rune) rune {
		switch r {
		case '-', '.':
			return '_'
		}
		return unicode.ToUpper(r)
	}, name)
}

// Names of streamctl's own settings.
const (
	KeyBootstrap      = "bootstrap-server"
	KeyCommandConfig  = "command-config"
	KeyGroup          = "group"
	KeyReadonly       = "readonly"
	KeyTimeout        = "timeout"
	KeyRequestTimeout = "request-timeout"
	KeyStandbys       = "standbys"
	KeySettle         = "settle"
	KeyMaxLag         = "max-lag"
	KeyScaleDown      = "scale-down-timeout"
	KeyMinInterval    = "min-interval"
	KeyBalancing      = "balancing-factor"
	KeyRestoreRate    = "restore-rate"
	KeyColor          = "color"
)

// Keys returns every setting there is: streamctl's own first, in the order in
// which they are documented, then Kafka's by name.
func Keys() []Key {
	return []Key{
		{Name: KeyBootstrap, Kind: List, Doc: "brokers to ask first, host:port"},
		{Name: KeyCommandConfig, Kind: Path, Doc: "client properties file, as Kafka's own tools take it"},
		{Name: KeyGroup, Doc: "group that commands are about when none is named"},
		{Name: KeyReadonly, Kind: Switch, Default: "false", Doc: "refuse every command that changes something"},
		{Name: KeyTimeout, Kind: Duration, Default: "30s", Doc: "bound of a whole command"},
		{Name: KeyRequestTimeout, Kind: Duration, Default: "10s", Doc: "bound of one request to a broker"},
		{Name: KeyStandbys, Kind: Number, Doc: "standbys that a classic group's application asks for"},
		{Name: KeySettle, Kind: Duration, Default: "30s", Doc: "time without change after which a group counts as stable"},
		{Name: KeyMaxLag, Kind: Number, Doc: "input lag in records up to which a partition counts as caught up"},
		{Name: KeyScaleDown, Kind: Duration, Doc: "time that a leaving instance may take to hand over its tasks"},
		{Name: KeyMinInterval, Kind: Duration, Doc: "least time between two rebalances that are asked for"},
		{Name: KeyBalancing, Doc: "how far from an even share an instance may be"},
		{Name: KeyRestoreRate, Doc: "restore speed to reckon with"},
		{Name: KeyColor, Default: "auto", OneOf: []string{"auto", "always", "never"}, Doc: "auto, always or never"},

		{Name: "client.id", Default: "streamctl", Doc: "name in the logs of the brokers"},
		{Name: "default.api.timeout.ms", Kind: Millis, Doc: "as timeout, where that is not set"},
		{Name: "request.timeout.ms", Kind: Millis, Doc: "as request-timeout, where that is not set"},
		{Name: "sasl.jaas.config", Secret: true, Doc: "login module with its options"},
		{Name: "sasl.mechanism", Doc: "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"},
		{Name: "sasl.oauthbearer.client.credentials.client.id", Doc: "client id for the token endpoint"},
		{Name: "sasl.oauthbearer.client.credentials.client.secret", Secret: true, Doc: "client secret for the token endpoint"},
		{Name: "sasl.oauthbearer.header.urlencode", Kind: Switch, Default: "false", Doc: "escape id and secret in the header sent to the token endpoint"},
		{Name: "sasl.oauthbearer.scope", Doc: "scope to ask the token endpoint for"},
		{Name: "sasl.oauthbearer.token.endpoint.url", Doc: "where to get a token; https, http or file"},
		{Name: "sasl.password", Secret: true, Own: true, Doc: "password of sasl.username"},
		{Name: "sasl.username", Own: true, Doc: "user for PLAIN and SCRAM, instead of sasl.jaas.config"},
		{Name: "security.protocol", Default: "PLAINTEXT", Doc: "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"},
		{Name: "socket.connection.setup.timeout.ms", Kind: Millis, Default: "10000", Doc: "bound of connecting to one broker"},
		{Name: "ssl.enabled.protocols", Kind: List, Default: "TLSv1.2,TLSv1.3", Doc: "TLS versions"},
		{Name: "ssl.endpoint.identification.algorithm", Default: "https", Doc: "empty: the broker's certificate need not name its host"},
		{Name: "ssl.key.password", Secret: true, Doc: "password of the client's key"},
		{Name: "ssl.keystore.certificate.chain", Doc: "client certificate and its chain, PEM in line"},
		{Name: "ssl.keystore.key", Secret: true, Doc: "client key, PEM in line"},
		{Name: "ssl.keystore.location", Kind: Path, Doc: "client key and certificate: PEM, PKCS12 or JKS file"},
		{Name: "ssl.keystore.password", Secret: true, Doc: "password of that file"},
		{Name: "ssl.keystore.type", Doc: "not needed: the content decides"},
		{Name: "ssl.truststore.certificates", Doc: "certificates to trust, PEM in line"},
		{Name: "ssl.truststore.location", Kind: Path, Doc: "certificates to trust: PEM, PKCS12 or JKS file"},
		{Name: "ssl.truststore.password", Secret: true, Doc: "password of that file"},
		{Name: "ssl.truststore.type", Doc: "not needed: the content decides"},
	}
}

// LookupKey returns the setting of that name.
func LookupKey(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}
