package curve

import (
	"crypto/ecdh"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

const keySize = 32

// Keys is a permanent pair of keys. It does not print itself: neither key belongs in a
// log.
type Keys struct {
	secret *ecdh.PrivateKey
	public [keySize]byte
}

// NewKeys returns a random pair.
func NewKeys() *Keys {
	secret, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // the system's random numbers never fail
	}
	return pair(secret)
}

// ParseKeys returns the pair with these keys in Z85, the form that connection files have.
// Its error names the field of the connection file and does not repeat the keys.
func ParseKeys(public, secret string) (*Keys, error) {
	p, err := decodeKey(public)
	if err != nil {
		return nil, fmt.Errorf("curve_publickey: %w", err)
	}
	s, err := decodeKey(secret)
	if err != nil {
		return nil, fmt.Errorf("curve_secretkey: %w", err)
	}
	key, err := ecdh.X25519().NewPrivateKey(s)
	if err != nil {
		return nil, fmt.Errorf("curve_secretkey: %w", err)
	}
	k := pair(key)
	if k.public != [keySize]byte(p) {
		return nil, errors.New("curve_publickey: does not belong to curve_secretkey")
	}
	return k, nil
}

func pair(secret *ecdh.PrivateKey) *Keys {
	return &Keys{secret: secret, public: [keySize]byte(secret.PublicKey().Bytes())}
}

// Z85 returns both keys as a connection file has them.
func (k *Keys) Z85() (public, secret string) {
	return encodeZ85(k.public[:]), encodeZ85(k.secret.Bytes())
}

// String returns a text without the keys.
func (k *Keys) String() string { return "CURVE keys" }

// GoString returns a text without the keys.
func (k *Keys) GoString() string { return k.String() }

// z85 is the alphabet of https://rfc.zeromq.org/spec/32.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// encodeZ85 writes each four bytes as five digits of base 85.
func encodeZ85(b []byte) string {
	var text []byte
	for ; len(b) >= 4; b = b[4:] {
		n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		for divisor := uint32(85 * 85 * 85 * 85); divisor > 0; divisor /= 85 {
			text = append(text, z85[n/divisor%85])
		}
	}
	return string(text)
}

func decodeKey(text string) ([]byte, error) {
	const digits = keySize / 4 * 5
	if len(text) != digits {
		return nil, fmt.Errorf("%d characters, want %d of Z85", len(text), digits)
	}
	var key []byte
	for i := 0; i < digits; i += 5 {
		n := uint64(0)
		for j := i; j < i+5; j++ {
			digit := strings.IndexByte(z85, text[j])
			if digit < 0 {
				return nil, fmt.Errorf("character %d is not of Z85", j+1)
			}
			n = 85*n + uint64(digit)
		}
		if n > 1<<32-1 {
			return nil, fmt.Errorf("characters %d to %d are not of Z85: their value exceeds 32 bits", i+1, i+5)
		}
		key = append(key, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return key, nil
}
