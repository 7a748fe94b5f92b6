package curve

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Client is the client's side of one handshake. Call Hello, Initiate, Finish and Session
// in this order; after an error, drop it.
type Client struct {
	keys     *Keys
	server   []byte // permanent public key of the server
	own      *Keys  // transient pair
	hello    boxKey // key of the transient pair and the server's permanent key
	session  boxKey
	counter  counter
	sequence uint64
}

// NewClient returns the client's side with its permanent keys. The server's public key is
// that of the same pair: Jupyter gives both ends one pair.
func NewClient(keys *Keys) (*Client, error) {
	c := &Client{keys: keys, server: keys.public[:], own: NewKeys()}
	var err error
	c.hello, err = sharedKey(c.own.secret, c.server)
	return c, err
}

func (c *Client) next() uint64 {
	c.sequence++
	return c.sequence
}

// Hello returns the data of HELLO.
func (c *Client) Hello() []byte {
	data := make([]byte, 74, helloSize)
	copy(data, helloVersion)
	data = append(data, c.own.public[:]...)
	n := c.next()
	data = binary.BigEndian.AppendUint64(data, n)
	return c.hello.seal(data, make([]byte, 64), shortNonce("CurveZMQHELLO---", n))
}

// Initiate returns the data of INITIATE for the data of WELCOME.
func (c *Client) Initiate(welcome, metadata []byte) ([]byte, error) {
	if len(welcome) != welcomeSize {
		return nil, fmt.Errorf("WELCOME of %d bytes, want %d", len(welcome), welcomeSize)
	}
	text, ok := c.hello.open(nil, welcome[longNonceSize:], longNonce("WELCOME-", welcome))
	if !ok {
		return nil, ErrKey
	}
	server, cookie := text[:keySize], text[keySize:]
	var err error
	if c.session, err = sharedKey(c.own.secret, server); err != nil {
		return nil, err
	}
	key, err := sharedKey(c.keys.secret, server)
	if err != nil {
		return nil, err
	}
	// The vouch proves that the holder of the permanent secret makes this connection to this server.
	random := randomBytes(longNonceSize)
	vouched := append(append([]byte{}, c.own.public[:]...), c.server...)
	vouch := key.seal(random, vouched, longNonce("VOUCH---", random))
	n := c.next()
	data := binary.BigEndian.AppendUint64(append([]byte{}, cookie...), n)
	text = append(append(c.keys.public[:], vouch...), metadata...)
	return c.session.seal(data, text, shortNonce("CurveZMQINITIATE", n)), nil
}

// Finish returns the server's metadata for the data of READY.
func (c *Client) Finish(ready []byte) (metadata []byte, err error) {
	if len(ready) < minReady {
		return nil, fmt.Errorf("READY of %d bytes, want at least %d", len(ready), minReady)
	}
	n := binary.BigEndian.Uint64(ready)
	if err := c.counter.accept(n); err != nil {
		return nil, err
	}
	metadata, ok := c.session.open(nil, ready[8:], shortNonce("CurveZMQREADY---", n))
	if !ok {
		return nil, errors.New("READY cannot be decrypted")
	}
	return metadata, nil
}

// Session returns the state for messages; call it after Finish.
func (c *Client) Session() *Session {
	return &Session{key: c.session, out: fromClient, in: fromServer, sent: c.sequence, received: c.counter}
}
