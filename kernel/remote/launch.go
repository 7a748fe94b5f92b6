package remote

import (
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"

	"halfnote/kernel"
	"halfnote/kernel/curve"
	"halfnote/kernel/jupyter"
)

// Options are what the server gives a launcher, as flags or environment variables.
type Options struct {
	// KernelID identifies the kernel in its response.
	KernelID string
	// PortRange is "LOWEST..HIGHEST"; "" and "0..0" leave the choice to the system.
	PortRange string
	// ResponseAddress is the server's IP:PORT.
	ResponseAddress string
	// PublicKey is the server's RSA key, an X.509 SubjectPublicKeyInfo in base64.
	PublicKey string
	// TransportEncryption is "auto" or "required" for a kernel with CURVE keys; "" and
	// "disabled" for one without.
	TransportEncryption string
}

// Launch is a kernel that is about to start.
type Launch struct {
	options    Options
	server     *encrypter
	connection jupyter.Connection
	signals    *signals
}

// New checks the options, chooses keys and ports, and opens the communication port. The
// caller must call Close.
func New(o Options) (*Launch, error) {
	if o.KernelID == "" {
		return nil, errors.New("remote: the kernel id is missing: give --kernel-id or KERNEL_ID")
	}
	if _, _, err := net.SplitHostPort(o.ResponseAddress); err != nil {
		return nil, fmt.Errorf("remote: response address %q, want IP:PORT", o.ResponseAddress)
	}
	server, err := newEncrypter(o.PublicKey)
	if err != nil {
		return nil, err
	}
	l := &Launch{options: o, server: server, connection: jupyter.Connection{
		Transport: "tcp", IP: "0.0.0.0", Key: kernel.NewID(), SignatureScheme: jupyter.SignatureScheme,
	}}
	switch o.TransportEncryption {
	case "", "disabled":
	case "auto", "required":
		l.connection.CurvePublicKey, l.connection.CurveSecretKey = curve.NewKeys().Z85()
	default:
		return nil, fmt.Errorf("remote: transport encryption %q, want disabled, auto or required", o.TransportEncryption)
	}
	ports, err := parseRange(o.PortRange)
	if err != nil {
		return nil, err
	}
	c := &l.connection
	comm, err := ports.choose(&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HeartbeatPort)
	if err != nil {
		return nil, err
	}
	l.signals = &signals{Listener: comm}
	return l, nil
}

// Connection returns the connection for [jupyter.Config]: ports that are 0 are chosen by
// the system.
func (l *Launch) Connection() jupyter.Connection { return l.connection }

// Answer sends the connection of the kernel, which is listening, to the server, and begins to
// serve signals. It logs what it does.
func (l *Launch) Answer(c jupyter.Connection, log *log.Logger) error {
	go l.signals.serve(log)
	if err := l.send(c); err != nil {
		return fmt.Errorf("remote: answer to %s: %w", l.options.ResponseAddress, err)
	}
	log.Printf("remote: kernel %s: sent its connection to %s; signals arrive at port %d", l.options.KernelID, l.options.ResponseAddress, l.signals.port())
	return nil
}

// Close closes the communication port.
func (l *Launch) Close() error { return l.signals.Close() }

// portRange is a range of ports; from 0 to 0 any.
type portRange struct{ lowest, highest int }

func parseRange(text string) (r portRange, err error) {
	if text == "" {
		return r, nil
	}
	low, high, ok := strings.Cut(text, "..")
	if ok {
		r.lowest, err = strconv.Atoi(low)
	}
	if ok && err == nil {
		r.highest, err = strconv.Atoi(high)
	}
	if !ok || err != nil || r.lowest < 0 || r.highest < r.lowest || r.highest > 65535 || r.lowest == 0 && r.highest > 0 {
		return r, fmt.Errorf("remote: port range %q, want LOWEST..HIGHEST, from 1 to 65535, or 0..0", text)
	}
	return r, nil
}

// choose sets ports to free ones and opens a listener on a further one. Another process may
// take a port before the kernel does.
func (r portRange) choose(ports ...*int) (net.Listener, error) {
	if r.highest == 0 {
		return net.Listen("tcp4", "0.0.0.0:0")
	}
	var free []net.Listener
	size := r.highest - r.lowest + 1
	first := rand.IntN(size)
	for i := 0; i < size && len(free) <= len(ports); i++ {
		l, err := net.Listen("tcp4", "0.0.0.0:"+strconv.Itoa(r.lowest+(first+i)%size))
		if err == nil {
			free = append(free, l)
		}
	}
	if len(free) <= len(ports) {
		for _, l := range free {
			l.Close()
		}
		return nil, fmt.Errorf("remote: port range %d..%d has %d free ports, want %d", r.lowest, r.highest, len(free), len(ports)+1)
	}
	for i, p := range ports {
		*p = free[i].Addr().(*net.TCPAddr).Port
		free[i].Close()
	}
	return free[len(ports)], nil
}
