package jupyter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/kernel/curve"
)

const ports = `"shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5`

func TestReadConnection(t *testing.T) {
	public, secret := curve.NewKeys().Z85()
	other, _ := curve.NewKeys().Z85()
	for _, tt := range []struct{ name, file, want string }{
		{"all fields", `{"transport":"tcp","ip":"127.0.0.1","key":"k","signature_scheme":"hmac-sha256","kernel_name":"x",` + ports + `}`, ""},
		{"newer fields", `{"other":"x","jupyter_session":[1],` + ports + `}`, ""},
		{"CURVE", `{"curve_publickey":"` + public + `","curve_secretkey":"` + secret + `",` + ports + `}`, ""},
		{"CURVE without the secret key", `{"curve_publickey":"` + public + `",` + ports + `}`, "curve_secretkey: 0 characters, want 40 of Z85"},
		{"CURVE with another public key", `{"curve_publickey":"` + other + `","curve_secretkey":"` + secret + `",` + ports + `}`, "curve_publickey: does not belong to curve_secretkey"},
		{"not JSON", `ports`, "invalid character"},
		{"port missing", `{"shell_port":1,"iopub_port":2,"stdin_port":3,"control_port":4}`, "hb_port: missing"},
		{"port too large", `{"shell_port":65536,"iopub_port":2,"stdin_port":3,"control_port":4,"hb_port":5}`, "shell_port: 65536, want 1 to 65535"},
		{"port a string", `{"shell_port":"1"}`, "cannot unmarshal string"},
		{"other scheme", `{"signature_scheme":"hmac-md5",` + ports + `}`, `signature_scheme: "hmac-md5", want hmac-sha256`},
		{"other transport", `{"transport":"udp",` + ports + `}`, `transport: "udp", want tcp or ipc`},
		{"ipc without path", `{"transport":"ipc",` + ports + `}`, "ip: missing, want the path of the sockets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.json")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadConnection(path)
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the secret key: %v", err)
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := ReadConnection(filepath.Join(t.TempDir(), "none.json")); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("missing file: got error %v, want one that names none.json", err)
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		c        Connection
		endpoint string
		local    bool
	}{
		{Connection{}, "tcp://127.0.0.1:7", true},
		{Connection{IP: "localhost"}, "tcp://localhost:7", true},
		{Connection{IP: "::1"}, "tcp://[::1]:7", true},
		{Connection{IP: "*"}, "tcp://0.0.0.0:7", false},
		{Connection{IP: "10.0.0.1"}, "tcp://10.0.0.1:7", false},
		{Connection{Transport: "ipc", IP: "/run/k"}, "ipc:///run/k-7", true},
	} {
		if got := tt.c.Endpoint(7); got != tt.endpoint || tt.c.local() != tt.local {
			t.Errorf("%+v: got %s, local %v; want %s, %v", tt.c, got, tt.c.local(), tt.endpoint, tt.local)
		}
	}
}
