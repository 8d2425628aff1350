package config

import (
	"slices"
	"strings"
)

// otherName returns the setting that people mean who know it from another
// tool, or "".
func otherName(name string) string {
	switch strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(name)) {
	case "brokers", "broker", "broker.list", "bootstrap", "bootstrap.servers", "server", "servers", "metadata.broker.list":
		return KeyBootstrap
	case "tls.key", "ssl.key", "tls.key.file", "ssl.key.location", "key.file", "client.key":
		return "ssl.keystore.location"
	case "tls.cert", "tls.certificate", "tls.cert.file", "ssl.certificate.location", "cert", "client.cert":
		return "ssl.keystore.location"
	case "tls.ca", "tls.ca.cert", "tls.ca.file", "tls.cafile", "ssl.ca", "ssl.ca.location", "ca", "ca.file", "ca.cert":
		return "ssl.truststore.location"
	case "tls", "tls.enabled", "ssl", "security", "protocol":
		return "security.protocol"
	case "tls.insecure", "insecure", "ssl.verify", "tls.skip.verify", "insecure.skip.verify":
		return "ssl.endpoint.identification.algorithm"
	case "sasl", "mechanism", "sasl.mechanisms", "sasl.type":
		return "sasl.mechanism"
	case "user", "username", "sasl.user":
		return "sasl.username"
	case "password", "pass", "sasl.pass":
		return "sasl.password"
	case "properties", "client.properties", "config", "config.file":
		return KeyCommandConfig
	case "group.id":
		return KeyGroup
	}
	return ""
}

// nearest returns the one of names closest to name, or "" when none is near
// enough to be what was meant. Letter case, "tls" for "ssl" and the choice of
// ".", "-" and "_" do not count.
func nearest(name string, names []string) string {
	if o := otherName(name); slices.Contains(names, o) {
		return o
	}
	plain := func(s string) string {
		s = strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(s))
		if rest, ok := strings.CutPrefix(s, "tls."); ok {
			s = "ssl." + rest
		}
		return s
	}
	if len(name) > 100 {
		return ""
	}
	want := plain(name)
	best, bestDistance := "", 1+max(1, len(want)/3)
	for _, n := range names {
		if d := Distance(want, plain(n)); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// Distance is the number of letters to add, drop, change or swap with their
// neighbour to make b of a.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		rows[0], rows[1], rows[2] = last, row, before
	}
	return rows[1][len(y)]
}
