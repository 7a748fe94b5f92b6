package curve

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestZ85 uses the vector of https://rfc.zeromq.org/spec/32, and the pair of keys of libzmq's documentation of
// zmq_curve.
func TestZ85(t *testing.T) {
	if got := encodeZ85([]byte{0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b}); got != "HelloWorld" {
		t.Errorf("got %q, want HelloWorld", got)
	}
	const public, secret = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
	k, err := ParseKeys("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", secret)
	if err != nil {
		t.Fatal(err)
	}
	if p, s := k.Z85(); p != "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID" || s != secret {
		t.Errorf("got %s, %s, want the keys that were parsed", p, s)
	}
	for _, tt := range []struct{ name, public, secret, want string }{
		{"public key of another pair", public, secret, "curve_publickey: does not belong to curve_secretkey"},
		{"short", public[:39], secret, "curve_publickey: 39 characters, want 40 of Z85"},
		{"empty", public, "", "curve_secretkey: 0 characters, want 40 of Z85"},
		{"another character", public, strings.Replace(secret, "!", "~", 1), "curve_secretkey: character 10 is not of Z85"},
		{"too large", "#####" + public[5:], secret, "curve_publickey: characters 1 to 5 are not of Z85: their value exceeds 32 bits"},
	} {
		_, err := ParseKeys(tt.public, tt.secret)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	k := NewKeys()
	public, secret := k.Z85()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		got := fmt.Sprintf(format, k)
		for _, key := range []string{public, secret, hex.EncodeToString(k.public[:]), hex.EncodeToString(k.secret.Bytes())} {
			if strings.Contains(got, key) {
				t.Errorf("%s prints a key", format)
			}
		}
	}
}

// exchange performs a handshake, and returns both sessions and the metadata that each side received.
func exchange(t testing.TB, client, server *Keys) (c, s *Session, toClient, toServer []byte) {
	t.Helper()
	left, err := NewClient(client)
	if err != nil {
		t.Fatal(err)
	}
	right := NewServer(server)
	welcome, err := right.Welcome(left.Hello())
	if err != nil {
		t.Fatal(err)
	}
	initiate, err := left.Initiate(welcome, []byte("of the client"))
	if err != nil {
		t.Fatal(err)
	}
	if toServer, err = right.Accept(initiate); err != nil {
		t.Fatal(err)
	}
	if toClient, err = left.Finish(right.Ready([]byte("of the server"))); err != nil {
		t.Fatal(err)
	}
	return left.Session(), right.Session(), toClient, toServer
}

func TestExchange(t *testing.T) {
	keys := NewKeys()
	c, s, toClient, toServer := exchange(t, keys, keys)
	if string(toClient) != "of the server" || string(toServer) != "of the client" {
		t.Errorf("got metadata %q and %q, want the other side's", toClient, toServer)
	}
	for _, flags := range []byte{0, More, Command} {
		for _, body := range []string{"", "a", strings.Repeat("long", 100_000)} {
			for _, way := range [][2]*Session{{c, s}, {s, c}} {
				message := way[0].Seal(nil, flags, []byte(body))
				if len(message) != len(body)+Overhead {
					t.Errorf("a body of %d bytes became %d, want %d more", len(body), len(message), Overhead)
				}
				gotFlags, got, err := way[1].Open(message)
				if err != nil || gotFlags != flags || string(got) != body {
					t.Errorf("got flags %d, %d bytes, %v, want %d, %d bytes", gotFlags, len(got), err, flags, len(body))
				}
			}
		}
	}
}

// TestHelloRefuses changes each part of HELLO.
func TestHelloRefuses(t *testing.T) {
	keys := NewKeys()
	for _, tt := range []struct {
		name  string
		hello func() []byte
		want  string
	}{
		{"another server's key", func() []byte { c, _ := NewClient(NewKeys()); return c.Hello() }, ErrKey.Error()},
		{"short", func() []byte { return hello(keys)[:193] }, "HELLO of 193 bytes, want 194"},
		{"version 2", func() []byte { h := hello(keys); h[0] = 2; return h }, "version 1.0"},
		{"another nonce", func() []byte { h := hello(keys); h[113]++; return h }, ErrKey.Error()},
		{"another transient key", func() []byte { h := hello(keys); h[80]++; return h }, ErrKey.Error()},
		{"changed box", func() []byte { h := hello(keys); h[193]++; return h }, ErrKey.Error()},
		{"key of low order", func() []byte { return lowOrder() }, "low order"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewServer(keys).Welcome(tt.hello())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

func hello(keys *Keys) []byte {
	c, err := NewClient(keys)
	if err != nil {
		panic(err)
	}
	return c.Hello()
}

// lowOrder returns a HELLO whose box anyone can form: with a transient key of zeros the shared secret is
// zero for every server.
func lowOrder() []byte {
	key := keyOf([32]byte{})
	data := append([]byte(helloVersion), make([]byte, 72+keySize)...)
	data = append(data, 0, 0, 0, 0, 0, 0, 0, 1)
	return key.seal(data, make([]byte, 64), shortNonce("CurveZMQHELLO---", 1))
}

// TestInitiateRefuses changes each byte of INITIATE, and replays one of another connection.
func TestInitiateRefuses(t *testing.T) {
	keys := NewKeys()
	begin := func() (*Server, []byte) {
		c, err := NewClient(keys)
		if err != nil {
			t.Fatal(err)
		}
		s := NewServer(keys)
		welcome, err := s.Welcome(c.Hello())
		if err != nil {
			t.Fatal(err)
		}
		initiate, err := c.Initiate(welcome, []byte("metadata"))
		if err != nil {
			t.Fatal(err)
		}
		return s, initiate
	}
	s, initiate := begin()
	for i := 0; i < len(initiate); i += 7 {
		changed := bytes.Clone(initiate)
		changed[i] ^= 1
		other := *s
		if _, err := other.Accept(changed); err == nil {
			t.Errorf("byte %d changed: got no error", i)
		}
	}
	if other, _ := begin(); other != nil {
		if _, err := other.Accept(initiate); err == nil || !strings.Contains(err.Error(), "another cookie") {
			t.Errorf("INITIATE of another connection: got error %v, want another cookie", err)
		}
	}
	if _, err := s.Accept(initiate[:minInitiate-1]); err == nil {
		t.Error("short INITIATE: got no error")
	}
	if metadata, err := s.Accept(initiate); err != nil || string(metadata) != "metadata" {
		t.Errorf("got metadata %q, %v", metadata, err)
	}
	if _, err := s.Accept(initiate); !errors.Is(err, errNonce) {
		t.Errorf("INITIATE twice: got error %v, want %v", err, errNonce)
	}
}

func TestServerIsAuthenticated(t *testing.T) {
	c, err := NewClient(NewKeys())
	if err != nil {
		t.Fatal(err)
	}
	c.Hello()
	if _, err := c.Initiate(randomBytes(welcomeSize), nil); !errors.Is(err, ErrKey) {
		t.Errorf("WELCOME of another server: got error %v, want %v", err, ErrKey)
	}
}

func TestOpenRefuses(t *testing.T) {
	keys := NewKeys()
	c, s, _, _ := exchange(t, keys, keys)
	first, second := c.Seal(nil, 0, []byte("first")), c.Seal(nil, 0, []byte("second"))
	for i := range second {
		changed := bytes.Clone(second)
		changed[i] ^= 1
		other := *s
		if _, _, err := other.Open(changed); err == nil {
			t.Errorf("byte %d changed: got no error", i)
		}
	}
	if _, _, err := c.Open(second); err == nil {
		t.Error("a client opened a message of a client, want an error")
	}
	if _, _, err := s.Open(second); err != nil {
		t.Fatal(err)
	}
	for _, old := range [][]byte{second, first} {
		if _, _, err := s.Open(old); !errors.Is(err, errNonce) {
			t.Errorf("a message that was received or overtaken: got error %v, want %v", err, errNonce)
		}
	}
	for _, flags := range []byte{More | Command, 4, 0x80} {
		if _, _, err := s.Open(c.Seal(nil, flags, nil)); err == nil || !strings.Contains(err.Error(), "message flags") {
			t.Errorf("flags %#x: got error %v, want message flags", flags, err)
		}
	}
}

// TestNoncesNeverRepeat collects the nonces of many connections with one pair of keys: those of one
// key differ.
func TestNoncesNeverRepeat(t *testing.T) {
	keys := NewKeys()
	seen := map[string]bool{}
	use := func(key boxKey, n nonce) {
		t.Helper()
		id := string(key[:]) + string(n[:])
		if seen[id] {
			t.Errorf("the nonce %q was used twice with one key", n)
		}
		seen[id] = true
	}
	for range 50 {
		client, err := NewClient(keys)
		if err != nil {
			t.Fatal(err)
		}
		server := NewServer(keys)
		hello := client.Hello()
		use(client.hello, nonce(append([]byte("CurveZMQHELLO---"), hello[106:114]...)))
		welcome, err := server.Welcome(hello)
		if err != nil {
			t.Fatal(err)
		}
		use(client.hello, nonce(append([]byte("WELCOME-"), welcome[:16]...)))
		initiate, err := client.Initiate(welcome, nil)
		if err != nil {
			t.Fatal(err)
		}
		use(client.session, nonce(append([]byte("CurveZMQINITIATE"), initiate[96:104]...)))
		if _, err := server.Accept(initiate); err != nil {
			t.Fatal(err)
		}
		ready := server.Ready(nil)
		use(server.session, nonce(append([]byte("CurveZMQREADY---"), ready[:8]...)))
		c, s := client.Session(), server.Session()
		for range 20 {
			use(c.key, nonce(append([]byte(fromClient), c.Seal(nil, 0, nil)[8:16]...)))
			use(s.key, nonce(append([]byte(fromServer), s.Seal(nil, 0, nil)[8:16]...)))
		}
	}
}

// FuzzServer sends any bytes as HELLO, INITIATE and MESSAGE. Only those of a client with the key may pass.
func FuzzServer(f *testing.F) {
	keys := NewKeys()
	f.Add(hello(keys), make([]byte, minInitiate), make([]byte, Overhead))
	f.Add([]byte(helloVersion), []byte{}, []byte(messageName))
	f.Add(lowOrder(), make([]byte, 1000), append([]byte(messageName), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, hello, initiate, message []byte) {
		server := NewServer(NewKeys())
		if _, err := server.Welcome(hello); err == nil {
			t.Error("a HELLO without the key was accepted")
		}
		c, err := NewClient(keys)
		if err != nil {
			t.Fatal(err)
		}
		server = NewServer(keys)
		if _, err := server.Welcome(c.Hello()); err != nil {
			t.Fatal(err)
		}
		if _, err := server.Accept(initiate); err == nil {
			t.Error("an INITIATE without the cookie was accepted")
		}
		if _, err := c.Initiate(hello, nil); err == nil {
			t.Error("a WELCOME without the secret key was accepted")
		}
		_, s, _, _ := exchange(t, keys, keys)
		if _, _, err := s.Open(message); err == nil {
			t.Error("a MESSAGE without the key was accepted")
		}
	})
}
