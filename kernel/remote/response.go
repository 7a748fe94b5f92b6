package remote

import (
	"bytes"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"halfnote/kernel/jupyter"
)

// response is the content of a connection file with what the server needs to know in
// addition.
type response struct {
	jupyter.Connection
	PID      int    `json:"pid"`
	PGID     int    `json:"pgid"`
	CommPort int    `json:"comm_port"`
	KernelID string `json:"kernel_id"`
}

const answerTime = 30 * time.Second

// send delivers the connection and closes.
func (l *Launch) send(c jupyter.Connection) error {
	text, err := json.Marshal(response{
		Connection: c, PID: os.Getpid(), PGID: processGroup(), CommPort: l.signals.port(), KernelID: l.options.KernelID,
	})
	if err != nil {
		return err
	}
	payload, err := l.server.encrypt(text)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", l.options.ResponseAddress, answerTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(answerTime))
	_, err = conn.Write(payload)
	return err
}

// encrypter encrypts for the holder of an RSA key, in the form of
// gateway_provisioners.response_manager, version 1.
type encrypter struct{ key *rsa.PublicKey }

func newEncrypter(publicKey string) (*encrypter, error) {
	der, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil {
		return nil, fmt.Errorf("remote: public key: %w", err)
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("remote: public key: %w", err)
	}
	rsaKey, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("remote: public key: %T, want an RSA key", key)
	}
	return &encrypter{rsaKey}, nil
}

// encrypt returns base64 of JSON: the text under AES-128 with a new key, and that key under
// RSA. The server prescribes ECB and PKCS #1 v1.5. A listener in the middle who also
// replaces the server's public key reads the text: the way by which the key comes must be
// safe.
func (e *encrypter) encrypt(text []byte) ([]byte, error) {
	key := make([]byte, 16)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	n := aes.BlockSize - len(text)%aes.BlockSize
	text = append(bytes.Clone(text), bytes.Repeat([]byte{byte(n)}, n)...)
	for i := 0; i < len(text); i += aes.BlockSize {
		block.Encrypt(text[i:], text[i:])
	}
	//lint:ignore SA1019 the server accepts no other padding
	sealed, err := rsa.EncryptPKCS1v15(rand.Reader, e.key, key)
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(struct {
		Version    int    `json:"version"`
		Key        []byte `json:"key"`
		Connection []byte `json:"conn_info"`
	}{1, sealed, text})
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, payload), nil
}
