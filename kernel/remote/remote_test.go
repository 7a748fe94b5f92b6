package remote

import (
	"bytes"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// gateway is the part of a server with gateway_provisioners that waits for a kernel's answer.
type gateway struct {
	net.Listener
	key *rsa.PrivateKey
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	key, err := rsa.GenerateKey(rand.Reader, 1024) // the size that the server uses
	if err != nil {
		t.Fatal(err)
	}
	return &gateway{l, key}
}

func (g *gateway) options(t *testing.T) Options {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&g.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return Options{KernelID: "id", ResponseAddress: g.Addr().String(), PublicKey: base64.StdEncoding.EncodeToString(der)}
}

// answer returns the decrypted answer of a kernel.
func (g *gateway) answer(t *testing.T) (r response) {
	t.Helper()
	c, err := g.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var sealed struct {
		Version    int
		Key        []byte
		Connection []byte `json:"conn_info"`
	}
	if err := json.Unmarshal(payload, &sealed); err != nil || sealed.Version != 1 {
		t.Fatalf("version %d, %v, want 1", sealed.Version, err)
	}
	//lint:ignore SA1019 this is the server's side of its own protocol
	key, err := rsa.DecryptPKCS1v15(nil, g.key, sealed.Key)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(sealed.Connection); i += 16 {
		block.Decrypt(sealed.Connection[i:], sealed.Connection[i:])
	}
	padding := int(sealed.Connection[len(sealed.Connection)-1])
	if padding < 1 || padding > 16 {
		t.Fatalf("padding of %d bytes, want 1 to 16", padding)
	}
	if err := json.Unmarshal(sealed.Connection[:len(sealed.Connection)-padding], &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnswer(t *testing.T) {
	for _, policy := range []string{"", "disabled", "auto", "required"} {
		g := newGateway(t)
		o := g.options(t)
		o.TransportEncryption = policy
		l, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c := l.Connection()
		c.ShellPort = 5
		answered := make(chan error, 1)
		go func() { answered <- l.Answer(c, log.New(io.Discard, "", 0)) }()
		got := g.answer(t)
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		want := response{Connection: c, PID: os.Getpid(), PGID: processGroup(), CommPort: l.signals.port(), KernelID: "id"}
		if got != want {
			t.Errorf("%q: got %+v, want %+v", policy, got, want)
		}
		if keys, err := got.CurveKeys(); err != nil || (keys != nil) != (policy == "auto" || policy == "required") {
			t.Errorf("%q: got keys %v, %v", policy, keys, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := newGateway(t).options(t)
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"no id", func(o *Options) { o.KernelID = "" }, "the kernel id is missing"},
		{"no address", func(o *Options) { o.ResponseAddress = "host" }, `response address "host", want IP:PORT`},
		{"key is not base64", func(o *Options) { o.PublicKey = "?" }, "public key: illegal base64"},
		{"key is not DER", func(o *Options) { o.PublicKey = "AAAA" }, "public key: "},
		{"policy", func(o *Options) { o.TransportEncryption = "on" }, `transport encryption "on", want disabled, auto or required`},
		{"range", func(o *Options) { o.PortRange = "5" }, `port range "5", want LOWEST..HIGHEST`},
		{"range backwards", func(o *Options) { o.PortRange = "9..5" }, `port range "9..5"`},
		{"range too high", func(o *Options) { o.PortRange = "9..70000" }, `port range "9..70000"`},
	} {
		o := good
		tt.change(&o)
		if l, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, error %v, want %q", tt.name, l, err, tt.want)
		}
	}
}

func TestPortRange(t *testing.T) {
	o := newGateway(t).options(t)
	o.PortRange = "20000..40000"
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := l.Connection()
	seen := map[int]bool{}
	for _, p := range []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HeartbeatPort, l.signals.port()} {
		if p < 20000 || p > 40000 || seen[p] {
			t.Errorf("port %d: want different ports from 20000 to 40000", p)
		}
		seen[p] = true
	}
	taken := strconv.Itoa(l.signals.port())
	o.PortRange = taken + ".." + taken
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "has 0 free ports, want 6") {
		t.Errorf("a range of one port that is taken: got error %v", err)
	}
}

// TestRequests sends requests to the communication port, well-formed and not.
func TestRequests(t *testing.T) {
	l, err := New(newGateway(t).options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var lines bytes.Buffer
	logged := func() string {
		mu.Lock()
		defer mu.Unlock()
		return lines.String()
	}
	ended := make(chan struct{})
	go func() {
		l.signals.serve(log.New(writer(func(b []byte) { mu.Lock(); lines.Write(b); mu.Unlock() }), "", 0))
		close(ended)
	}()
	request := func(text string) {
		t.Helper()
		c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(l.signals.port()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, text)
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, c)
	}
	for _, tt := range []struct{ request, want string }{
		{``, ``},
		{`{"signum": 0}`, ``},
		{`{"shutdown": 0}`, ``},
		{`{"signum": 64}`, "signal 64, want 0, 2, 15 or 9"},
		{`{"signum": "2"}`, "cannot unmarshal"},
		{`nonsense`, "request of 8 bytes: invalid character"},
		{strings.Repeat("x", 2*maxRequest), "request of 4096 bytes"},
		{`{"shutdown": 1}`, "the server has ended the kernel"},
	} {
		before := logged()
		request(tt.request)
		deadline := time.Now().Add(time.Minute)
		for tt.want != "" && !strings.Contains(logged()[len(before):], tt.want) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: got log %q, want %q", tt.request, logged()[len(before):], tt.want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	<-ended
	if got := logged(); strings.Contains(got, "signal 0") {
		t.Errorf("the question whether the kernel lives is logged: %s", got)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }
