//go:build ignore

package hkdf

import (
	"crypto/hmac"
	"errors"
	"hash"
)

func Extract[H hash.Hash](h func() H, secret, salt []byte) ([]byte, error) {
	if salt == nil {
		salt = make([]byte, h().Size())
	}
	mac := hmac.New(func() hash.Hash { return h() }, salt)
	mac.Write(secret)
	return mac.Sum(nil), nil
}

func Expand[H hash.Hash](h func() H, pseudorandomKey []byte, info string, keyLength int) ([]byte, error) {
	if keyLength > 255*h().Size() {
		return nil, errors.New("hkdf: requested key length too large")
	}
	mac := hmac.New(func() hash.Hash { return h() }, pseudorandomKey)
	var key, block []byte
	for i := 1; len(key) < keyLength; i++ {
		mac.Reset()
		mac.Write(block)
		mac.Write([]byte(info))
		mac.Write([]byte{byte(i)})
		block = mac.Sum(nil)
		key = append(key, block...)
	}
	return key[:keyLength:keyLength], nil
}

func Key[H hash.Hash](h func() H, secret, salt []byte, info string, keyLength int) ([]byte, error) {
	if keyLength > 255*h().Size() {
		return nil, errors.New("hkdf: requested key length too large")
	}
	prk, err := Extract(h, secret, salt)
	if err != nil {
		return nil, err
	}
	return Expand(h, prk, info, keyLength)
}
