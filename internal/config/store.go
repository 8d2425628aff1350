package config

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the seal of a JKS file
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/streamctl/streamctl/internal/errs"
)

// storeKind is what the content of a store file is, whatever its type key says.
type storeKind string

const (
	storePEM     storeKind = "PEM"
	storePKCS12  storeKind = "PKCS12"
	storeJKS     storeKind = "JKS"
	storeJCEKS   storeKind = "JCEKS"
	storeDER     storeKind = "DER certificate"
	storeUnknown storeKind = "unknown"
)

// kindOf looks at the first bytes of a store: Java too goes by content where
// it can.
func kindOf(data []byte) storeKind {
	switch {
	case bytes.HasPrefix(data, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return storeJKS
	case bytes.HasPrefix(data, []byte{0xce, 0xce, 0xce, 0xce}):
		return storeJCEKS
	case bytes.HasPrefix(data, []byte{0x30}):
		if _, err := x509.ParseCertificate(data); err == nil {
			return storeDER
		}
		return storePKCS12
	case bytes.Contains(data, []byte(pemBegin)):
		return storePEM
	}
	return storeUnknown
}

// refused is the error for a store of a kind that cannot be used.
func refused(kind storeKind, path string) error {
	switch kind {
	case storeJCEKS:
		return errs.WithHint(fmt.Errorf("%q is a JCEKS store, which is not supported", path),
			"convert it: keytool -importkeystore -srckeystore OLD -srcstoretype JCEKS -destkeystore NEW.p12 -deststoretype PKCS12")
	case storeDER:
		return errs.WithHint(fmt.Errorf("%q is a bare DER certificate, no store", path),
			"convert it: openssl x509 -inform der -in OLD -out NEW.pem")
	}
	return fmt.Errorf("%q is neither PEM nor PKCS12 nor JKS", path)
}

// trustedCerts reads a trust store.
func trustedCerts(path string, data []byte, password Secret) ([]*x509.Certificate, storeKind, error) {
	const passwordKey = "ssl.truststore.password"
	kind := kindOf(data)
	var certs []*x509.Certificate
	var err error
	switch kind {
	case storePEM:
		if certs, err = pemCerts(data); err != nil {
			err = fmt.Errorf("trust store %q: %w", path, err)
		}
	case storePKCS12:
		certs, err = pkcs12Trust(path, data, password)
	case storeJKS:
		certs, err = jksTrust(path, data, password, passwordKey)
	default:
		err = refused(kind, path)
	}
	return certs, kind, err
}

func pkcs12Trust(path string, data []byte, password Secret) (certs []*x509.Certificate, err error) {
	defer noPanic(&err, path)
	certs, err = pkcs12.DecodeTrustStore(data, password.Reveal())
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
		return nil, wrongPassword(path, password, "ssl.truststore.password")
	case err != nil && bytes.Contains([]byte(err.Error()), []byte("not marked as trusted")):
		return nil, errs.WithHint(fmt.Errorf("trust store %q: its certificates are not marked as trusted, so Java ignores them too (openssl pkcs12 writes such files)", path),
			"import the certificate with keytool -importcert, or give the PEM file as ssl.truststore.location")
	case err != nil && bytes.Contains([]byte(err.Error()), []byte("only certificate bags")):
		return nil, errs.WithHint(fmt.Errorf("trust store %q holds a private key: it is a key store", path),
			"is it meant for ssl.keystore.location?")
	case err != nil:
		return nil, fmt.Errorf("trust store %q: not a PKCS12 file that can be read: %w", path, err)
	case len(certs) == 0:
		return nil, fmt.Errorf("trust store %q holds no trusted certificate", path)
	}
	return certs, nil
}

func jksTrust(path string, data []byte, password Secret, passwordKey string) ([]*x509.Certificate, error) {
	if password == "" {
		data = resealJKS(data)
	}
	ks, err := openJKS(path, data, password, passwordKey)
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, alias := range ks.Aliases() {
		if !ks.IsTrustedCertificateEntry(alias) {
			continue
		}
		e, err := ks.GetTrustedCertificateEntry(alias)
		if err != nil {
			return nil, fmt.Errorf("store %q: entry %q: %w", path, alias, err)
		}
		c, err := x509.ParseCertificate(e.Certificate.Content)
		if err != nil {
			return nil, fmt.Errorf("store %q: entry %q: %w", path, alias, err)
		}
		certs = append(certs, c)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("trust store %q holds no trusted certificate", path)
	}
	return certs, nil
}

func openJKS(path string, data []byte, password Secret, passwordKey string) (ks keystore.KeyStore, err error) {
	defer noPanic(&err, path)
	ks = keystore.New(keystore.WithOrderedAliases())
	err = ks.Load(bytes.NewReader(data), []byte(password.Reveal()))
	switch {
	case err != nil && bytes.Contains([]byte(err.Error()), []byte("digest")):
		return ks, wrongPassword(path, password, passwordKey)
	case err != nil:
		return ks, fmt.Errorf("store %q: not a JKS file that can be read: %w", path, err)
	}
	return ks, nil
}

// resealJKS gives a JKS file the seal that an empty password makes. Java reads
// the certificates of a JKS trust store without a password, and then does not
// look at the seal, which is all that the password protects.
func resealJKS(data []byte) []byte {
	if len(data) < sha1.Size {
		return data
	}
	body := data[:len(data)-sha1.Size]
	seal := sha1.Sum(append([]byte("Mighty Aphrodite"), body...)) //nolint:gosec // the format's own
	return append(bytes.Clone(body), seal[:]...)
}

// wrongPassword says which key has no or the wrong password.
func wrongPassword(path string, password Secret, key string) error {
	if password == "" {
		return fmt.Errorf("store %q needs a password and %s is not set", path, key)
	}
	return fmt.Errorf("store %q: %s is not its password", path, key)
}

// noPanic turns a panic of a store library over odd bytes into an error.
func noPanic(err *error, path string) {
	if recover() != nil {
		*err = fmt.Errorf("store %q is damaged", path)
	}
}
