package curve

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"golang.org/x/crypto/nacl/secretbox"
	//lint:ignore SA1019 CURVE derives its keys by HSalsa20, which is public only here; nacl/box accepts keys of low order
	"golang.org/x/crypto/salsa20/salsa"
)

const (
	boxOverhead   = secretbox.Overhead
	longNonceSize = 16
)

// boxKey encrypts and authenticates between two holders of keys; it is crypto_box's
// precomputed key.
type boxKey [32]byte

// sharedKey returns the key of a secret and the peer's public key. Its error is that the
// public key has a low order, so that the key would be known to all.
func sharedKey(secret *ecdh.PrivateKey, public []byte) (key boxKey, err error) {
	peer, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return key, err
	}
	shared, err := secret.ECDH(peer)
	if err != nil {
		return key, err
	}
	return keyOf([32]byte(shared)), nil
}

// keyOf returns the key of a shared secret.
func keyOf(shared [32]byte) (key boxKey) {
	salsa.HSalsa20((*[32]byte)(&key), new([16]byte), &shared, &salsa.Sigma)
	return key
}

type nonce [24]byte

// shortNonce returns the nonce of a counter.
func shortNonce(prefix string, counter uint64) (n nonce) {
	copy(n[:16], prefix)
	binary.BigEndian.PutUint64(n[16:], counter)
	return n
}

// longNonce returns the nonce of 16 random bytes.
func longNonce(prefix string, random []byte) (n nonce) {
	copy(n[:8], prefix)
	copy(n[8:], random)
	return n
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// seal appends the box of text to dst.
func (k *boxKey) seal(dst, text []byte, n nonce) []byte {
	return secretbox.Seal(dst, text, (*[24]byte)(&n), (*[32]byte)(k))
}

// open appends the text of a box to dst.
func (k *boxKey) open(dst, box []byte, n nonce) ([]byte, bool) {
	return secretbox.Open(dst, box, (*[24]byte)(&n), (*[32]byte)(k))
}

// counter checks that the short nonces of a peer grow.
type counter struct {
	last uint64
	any  bool
}

var errNonce = errors.New("the nonce is not greater than the one before it")

func (c *counter) accept(n uint64) error {
	if c.any && n <= c.last {
		return errNonce
	}
	c.last, c.any = n, true
	return nil
}
