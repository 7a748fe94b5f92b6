package curve

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of the handshake's commands without their names.
const (
	helloSize    = 194
	welcomeSize  = 160
	cookieSize   = 96
	vouchSize    = longNonceSize + 2*keySize + boxOverhead
	minInitiate  = cookieSize + 8 + keySize + vouchSize + boxOverhead
	minReady     = 8 + boxOverhead
	helloVersion = "\x01\x00"
)

// ErrKey is the error for a peer that does not know the key of the other side.
var ErrKey = errors.New("the peer's keys are not those of this connection")

// Server is the server's side of one handshake. Call Welcome, Accept, Ready and Session
// in this order; after an error, drop it.
type Server struct {
	keys     *Keys
	own      *Keys  // transient pair
	client   []byte // transient public key of the client
	cookie   []byte
	session  boxKey
	counter  counter
	sequence uint64
}

// NewServer returns the server's side with its permanent keys.
func NewServer(keys *Keys) *Server { return &Server{keys: keys} }

// Welcome returns the data of WELCOME for the data of HELLO. A client that does not know
// the public key gets ErrKey, which costs one multiplication on the curve.
//
// HELLO is longer than WELCOME. The cookie is random bytes that the client must return:
// it need not hold the transient keys, as in the RFC, because the connection holds them.
func (s *Server) Welcome(hello []byte) ([]byte, error) {
	if len(hello) != helloSize || string(hello[:2]) != helloVersion {
		return nil, fmt.Errorf("HELLO of %d bytes, want %d and version 1.0", len(hello), helloSize)
	}
	client := hello[74:106]
	key, err := sharedKey(s.keys.secret, client)
	if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(hello[106:])
	zeros, ok := key.open(nil, hello[114:], shortNonce("CurveZMQHELLO---", n))
	if !ok || [64]byte(zeros) != [64]byte{} {
		return nil, ErrKey
	}
	if err := s.counter.accept(n); err != nil {
		return nil, err
	}
	s.own, s.client, s.cookie = NewKeys(), append([]byte{}, client...), randomBytes(cookieSize)
	random := randomBytes(longNonceSize)
	text := append(s.own.public[:], s.cookie...)
	return key.seal(random, text, longNonce("WELCOME-", random)), nil
}

// Accept returns the client's metadata for the data of INITIATE.
func (s *Server) Accept(initiate []byte) (metadata []byte, err error) {
	if len(initiate) < minInitiate {
		return nil, fmt.Errorf("INITIATE of %d bytes, want at least %d", len(initiate), minInitiate)
	}
	if subtle.ConstantTimeCompare(initiate[:cookieSize], s.cookie) != 1 {
		return nil, errors.New("INITIATE has another cookie than WELCOME")
	}
	if s.session, err = sharedKey(s.own.secret, s.client); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint64(initiate[cookieSize:])
	if err := s.counter.accept(n); err != nil {
		return nil, err
	}
	text, ok := s.session.open(nil, initiate[cookieSize+8:], shortNonce("CurveZMQINITIATE", n))
	if !ok {
		return nil, errors.New("INITIATE cannot be decrypted")
	}
	permanent, vouch, metadata := text[:keySize], text[keySize:keySize+vouchSize], text[keySize+vouchSize:]
	key, err := sharedKey(s.own.secret, permanent)
	if err != nil {
		return nil, err
	}
	vouched, ok := key.open(nil, vouch[longNonceSize:], longNonce("VOUCH---", vouch))
	if !ok || [2 * keySize]byte(vouched) != [2 * keySize]byte(append(s.client, s.keys.public[:]...)) {
		return nil, ErrKey
	}
	return metadata, nil
}

// Ready returns the data of READY.
func (s *Server) Ready(metadata []byte) []byte {
	s.sequence++
	data := binary.BigEndian.AppendUint64(nil, s.sequence)
	return s.session.seal(data, metadata, shortNonce("CurveZMQREADY---", s.sequence))
}

// Session returns the state for messages; call it after Ready.
func (s *Server) Session() *Session {
	return &Session{key: s.session, out: fromServer, in: fromClient, sent: s.sequence, received: s.counter}
}
