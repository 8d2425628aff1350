package config

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/youmark/pkcs8"

	"github.com/streamctl/streamctl/internal/errs"
)

// pemBegin opens every PEM block.
const pemBegin = "-----BEGIN "

// pemBlocks returns the blocks of PEM text. It also takes text whose line ends
// became blanks, as happens to a value continued over several lines of a
// properties file.
func pemBlocks(text []byte) []*pem.Block {
	var out []*pem.Block
	for {
		start := bytes.Index(text, []byte(pemBegin))
		if start < 0 {
			return out
		}
		text = text[start+len(pemBegin):]
		label, rest, ok := bytes.Cut(text, []byte("-----"))
		if !ok || len(label) > 64 || bytes.ContainsAny(label, "\r\n") {
			continue
		}
		body, after, ok := bytes.Cut(rest, append([]byte("-----END "+string(label)), "-----"...))
		if !ok {
			continue
		}
		if b := pemBlock(string(label), body); b != nil {
			out = append(out, b)
		}
		text = after
	}
}

// pemBlock decodes one block; nil when its body is no base64. Headers make
// sense with their line ends only.
func pemBlock(label string, body []byte) *pem.Block {
	if bytes.Contains(body, []byte(":")) {
		b, _ := pem.Decode([]byte(pemBegin + label + "-----\n" + strings.Trim(string(body), "\r\n") + "\n-----END " + label + "-----\n"))
		if b == nil {
			b = &pem.Block{Type: label, Headers: map[string]string{"Proc-Type": "4,ENCRYPTED"}}
		}
		return b
	}
	data, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(body), nil)))
	if err != nil {
		return nil
	}
	return &pem.Block{Type: label, Bytes: data}
}

// pemCerts returns the certificates of PEM text, at least one.
func pemCerts(text []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for _, b := range pemBlocks(text) {
		if b.Type != "CERTIFICATE" && b.Type != "X509 CERTIFICATE" && b.Type != "TRUSTED CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of the PEM text cannot be read: %w", len(out)+1, err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("no complete certificate in the PEM text")
	}
	return out, nil
}

// pemKey returns the private key of PEM text, decrypted where needed.
func pemKey(text []byte, password Secret) (crypto.PrivateKey, error) {
	for _, b := range pemBlocks(text) {
		if b.Type != "PRIVATE KEY" && !strings.HasSuffix(b.Type, " PRIVATE KEY") {
			continue
		}
		if b.Headers["Proc-Type"] != "" {
			return nil, errs.WithHint(errors.New("the private key is encrypted in the old form (Proc-Type: 4,ENCRYPTED)"),
				"convert it: openssl pkcs8 -topk8 -v2 aes256 -in KEY -out NEWKEY")
		}
		return parseKey(b, password)
	}
	return nil, errors.New("no complete private key in the PEM text")
}

func parseKey(b *pem.Block, password Secret) (key crypto.PrivateKey, err error) {
	switch b.Type {
	case "ENCRYPTED PRIVATE KEY":
		if password == "" {
			return nil, errors.New("the private key is encrypted and ssl.key.password is not set")
		}
		if key, err = decryptKey(b.Bytes, password); err != nil {
			return nil, err
		}
		return key, nil
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(b.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(b.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(b.Bytes)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read: it is damaged or of an unknown kind")
	}
	return key, nil
}

// decryptKey opens an encrypted PKCS#8 key. What the library says of a key
// that it cannot open is kept to what is known to be harmless.
func decryptKey(der []byte, password Secret) (key crypto.PrivateKey, err error) {
	defer func() {
		if recover() != nil {
			key, err = nil, errors.New("the encrypted private key is damaged")
		}
	}()
	key, err = pkcs8.ParsePKCS8PrivateKey(der, []byte(password.Reveal()))
	switch {
	case err == nil:
		return key, nil
	case regexp.MustCompile(`incorrect password`).MatchString(err.Error()):
		return nil, errors.New("ssl.key.password does not open the private key")
	}
	return nil, errors.New("the encrypted private key cannot be read: it is damaged or its cipher is not supported")
}
