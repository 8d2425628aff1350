package config

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"software.sslmate.com/src/go-pkcs12"
)

// identity is a private key with its certificate first and the rest of the
// chain behind it.
type identity struct {
	key   any
	chain []*x509.Certificate
}

// keyIdentity reads a key store.
func keyIdentity(path string, data []byte, password, keyPassword Secret) (identity, error) {
	switch kind := kindOf(data); kind {
	case storePEM:
		return pemIdentity(data, data, keyPassword)
	case storePKCS12:
		return pkcs12Identity(path, data, password)
	case storeJKS:
		return jksIdentity(path, data, password, keyPassword)
	default:
		return identity{}, refused(kind, path)
	}
}

// pemIdentity reads key and chain from PEM text.
func pemIdentity(key, chain []byte, password Secret) (id identity, err error) {
	if id.key, err = pemKey(key, password); err != nil {
		return id, err
	}
	if id.chain, err = pemCerts(chain); err != nil {
		return id, err
	}
	return id, id.order()
}

func pkcs12Identity(path string, data []byte, password Secret) (id identity, err error) {
	defer noPanic(&err, path)
	key, cert, others, err := pkcs12.DecodeChain(data, password.Reveal())
	switch {
	case errors.Is(err, pkcs12.ErrIncorrectPassword), errors.Is(err, pkcs12.ErrDecryption):
		return id, wrongPassword(path, password, "ssl.keystore.password")
	case err != nil:
		return id, fmt.Errorf("key store %q: %w", path, err)
	}
	id = identity{key: key, chain: append([]*x509.Certificate{cert}, others...)}
	return id, id.order()
}

func jksIdentity(path string, data []byte, password, keyPassword Secret) (id identity, err error) {
	ks, err := openJKS(path, data, password, "ssl.keystore.password")
	if err != nil {
		return id, err
	}
	defer noPanic(&err, path)
	if keyPassword == "" {
		keyPassword = password
	}
	aliases := ks.Aliases()
	i := slices.IndexFunc(aliases, ks.IsPrivateKeyEntry)
	if i < 0 {
		return id, fmt.Errorf("key store %q holds no private key", path)
	}
	e, err := ks.GetPrivateKeyEntry(aliases[i], []byte(keyPassword.Reveal()))
	if err != nil {
		return id, fmt.Errorf("key store %q: the password does not open key %q: is ssl.key.password right?", path, aliases[i])
	}
	if id.key, err = x509.ParsePKCS8PrivateKey(e.PrivateKey); err != nil {
		return id, fmt.Errorf("key store %q: key %q cannot be read", path, aliases[i])
	}
	for _, c := range e.CertificateChain {
		cert, err := x509.ParseCertificate(c.Content)
		if err != nil {
			return id, fmt.Errorf("key store %q: %w", path, err)
		}
		id.chain = append(id.chain, cert)
	}
	return id, id.order()
}

// order puts the certificate of the key first; it is an error when there is
// none.
func (id *identity) order() error {
	signer, ok := id.key.(crypto.Signer)
	if !ok {
		return errors.New("the private key is of a kind that cannot sign")
	}
	public, ok := signer.Public().(interface{ Equal(crypto.PublicKey) bool })
	if !ok {
		return errors.New("the private key is of a kind that is not supported")
	}
	for i, c := range id.chain {
		if public.Equal(c.PublicKey) {
			id.chain = slices.Insert(slices.Delete(id.chain, i, i+1), 0, c)
			return nil
		}
	}
	return errors.New("none of the certificates belongs to the private key")
}
