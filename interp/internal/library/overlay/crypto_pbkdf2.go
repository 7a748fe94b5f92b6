//go:build ignore

package pbkdf2

import (
	"crypto/hmac"
	"crypto/subtle"
	"errors"
	"hash"
)

func Key[Hash hash.Hash](h func() Hash, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	if keyLength <= 0 {
		return nil, errors.New("pkbdf2: keyLength must be larger than 0")
	}
	mac := hmac.New(func() hash.Hash { return h() }, []byte(password))
	size := mac.Size()
	if keyLength > ((1<<32 - 1) * size) {
		return nil, errors.New("pbkdf2: keyLength too long")
	}
	var key []byte
	for block := 1; len(key) < keyLength; block++ {
		mac.Reset()
		mac.Write(salt)
		mac.Write([]byte{byte(block >> 24), byte(block >> 16), byte(block >> 8), byte(block)})
		sum := mac.Sum(nil)
		last := append([]byte{}, sum...)
		for range iter - 1 {
			mac.Reset()
			mac.Write(last)
			last = mac.Sum(last[:0])
			subtle.XORBytes(sum, sum, last)
		}
		key = append(key, sum...)
	}
	return key[:keyLength:keyLength], nil
}
