package jupyter

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"

	"halfnote/kernel/curve"
)

// SignatureScheme is the only supported scheme, and Jupyter's default.
const SignatureScheme = "hmac-sha256"

// Connection is the content of a connection file: the addresses of the five sockets, the
// key that signs messages, and the keys that encrypt them. Unknown fields are ignored.
type Connection struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"; "" is "tcp"
	IP              string `json:"ip"`        // "" is 127.0.0.1; for ipc a path: sockets are IP-PORT
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HeartbeatPort   int    `json:"hb_port"`
	Key             string `json:"key"`              // "" leaves messages unsigned
	SignatureScheme string `json:"signature_scheme"` // "" is SignatureScheme
	KernelName      string `json:"kernel_name,omitempty"`

	// The keys of CURVE in Z85, one pair for both ends. With them all sockets accept only
	// encrypted connections of clients that know the public key.
	CurvePublicKey string `json:"curve_publickey,omitempty"`
	CurveSecretKey string `json:"curve_secretkey,omitempty"`
}

// CurveKeys returns the keys of CURVE; nil if the connection has none.
func (c Connection) CurveKeys() (*curve.Keys, error) {
	if c.CurvePublicKey == "" && c.CurveSecretKey == "" {
		return nil, nil
	}
	return curve.ParseKeys(c.CurvePublicKey, c.CurveSecretKey)
}

// ReadConnection reads a connection file. Its error names the field that is missing or
// not supported.
func ReadConnection(path string) (Connection, error) {
	var c Connection
	b, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("kernel: connection file: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("kernel: connection file %s: %w", path, err)
	}
	for _, p := range c.ports() {
		if *p.port == 0 {
			return c, fmt.Errorf("kernel: connection file %s: %s: missing", path, p.field)
		}
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("kernel: connection file %s: %w", path, err)
	}
	return c, nil
}

// openTo returns a warning if other users can read or replace the connection file, and
// so run code as this user; otherwise "". Windows does not keep access rights in the
// file mode.
func openTo(path string) string {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("its mode is %04o, want 0600: other local users can read the signing key", info.Mode().Perm())
}

type port struct {
	field string
	port  *int
}

func (c *Connection) ports() []port {
	return []port{
		{"control_port", &c.ControlPort},
		{"hb_port", &c.HeartbeatPort},
		{"iopub_port", &c.IOPubPort},
		{"shell_port", &c.ShellPort},
		{"stdin_port", &c.StdinPort},
	}
}

func (c *Connection) check() error {
	switch c.Transport {
	case "", "tcp", "ipc":
	default:
		return fmt.Errorf("transport: %q, want tcp or ipc", c.Transport)
	}
	switch c.SignatureScheme {
	case "", SignatureScheme:
	default:
		return fmt.Errorf("signature_scheme: %q, want %s", c.SignatureScheme, SignatureScheme)
	}
	if _, err := c.CurveKeys(); err != nil {
		return err
	}
	if c.Transport == "ipc" && c.IP == "" {
		return fmt.Errorf("ip: missing, want the path of the sockets")
	}
	for _, p := range c.ports() {
		if *p.port < 0 || *p.port > 65535 {
			return fmt.Errorf("%s: %d, want 1 to 65535", p.field, *p.port)
		}
	}
	return nil
}

// Address returns a port's network and address in the form that net.Listen takes. 0.0.0.0 means all IPv4 interfaces, as in libzmq;
// with the network "tcp", package net would also listen on IPv6, which rules of a firewall for IPv4 do not cover.
func (c Connection) Address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	ip := c.IP
	switch ip {
	case "":
		ip = "127.0.0.1"
	case "*":
		ip = "0.0.0.0"
	}
	network = "tcp"
	if ip := net.ParseIP(ip); ip != nil && ip.To4() != nil {
		network = "tcp4"
	}
	return network, net.JoinHostPort(ip, strconv.Itoa(port))
}

// Endpoint returns a port's address in ZeroMQ's form, to dial.
func (c Connection) Endpoint(port int) string {
	network, address := c.Address(port)
	if network == "unix" {
		return "ipc://" + address
	}
	return "tcp://" + address
}

// local reports whether only this machine can connect.
func (c Connection) local() bool {
	network, address := c.Address(0)
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}
