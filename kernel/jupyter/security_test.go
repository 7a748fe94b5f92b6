package jupyter_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel/curve"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// connectionFile writes a connection file with free ports.
func connectionFile(t *testing.T, rights os.FileMode) string {
	t.Helper()
	c := jupyter.Connection{Key: key, IP: "127.0.0.1"}
	for _, port := range []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HeartbeatPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(path, b, rights); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, rights); err != nil {
		t.Fatal(err)
	}
	return path
}

func (s *served) stop(t *testing.T) {
	t.Helper()
	s.end()
	err := <-s.ended
	s.ended <- err
	if err != nil {
		t.Fatal(err)
	}
}

func TestConnectionFileMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix file modes")
	}
	for rights, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o644: "mode is 0644", 0o620: "mode is 0620"} {
		s := serveConfig(t, &kerneltest.Echo{}, jupyter.Config{ConnectionFile: connectionFile(t, rights)})
		s.stop(t)
		if got := s.log.String(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%04o: got log %q, want it to contain %q", rights, got, want)
		}
	}
}

func TestUnsafeConnectionsAreLogged(t *testing.T) {
	public, secret := curve.NewKeys().Z85()
	for _, tt := range []struct {
		conn jupyter.Connection
		want string
	}{
		{jupyter.Connection{Key: key}, ""},
		{jupyter.Connection{Key: key, IP: "0.0.0.0"}, "listening on 0.0.0.0: messages are signed, but not encrypted"},
		{jupyter.Connection{Key: key, IP: "0.0.0.0", CurvePublicKey: public, CurveSecretKey: secret}, ""},
		{jupyter.Connection{}, "the connection has no key"},
	} {
		s := serve(t, &kerneltest.Echo{}, tt.conn)
		s.stop(t)
		if got := s.log.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: got log %q, want it to contain %q", tt.conn, got, tt.want)
		}
	}
}

// TestWholeSignatureIsCompared changes each byte of a signature in turn. Comparison in
// constant time is left to crypto/hmac.
func TestWholeSignatureIsCompared(t *testing.T) {
	good := message(header("1", "kernel_info_request"), "{}")
	right := string(good[1])
	try := func(signature string) error {
		frames := append([][]byte{good[0], []byte(signature)}, good[2:]...)
		_, err := jupyter.NewCodec(key).Decode(frames)
		return err
	}
	wrong := []string{"", right[:63], right[:32], right + "0", strings.ToUpper(right), " " + right, strings.Repeat("0", 64)}
	for i := range right {
		b := []byte(right)
		b[i] ^= 1
		wrong = append(wrong, string(b))
	}
	for _, signature := range wrong {
		if err := try(signature); err == nil || err.Error() != "wrong signature" {
			t.Errorf("%q: got error %v, want wrong signature", signature, err)
		}
	}
	if err := try(right); err != nil {
		t.Error(err)
	}
	for part := 2; part < len(good); part++ { // each part is signed
		frames := append([][]byte{}, good...)
		frames[part] = append([]byte(" "), frames[part]...)
		if _, err := jupyter.NewCodec(key).Decode(frames); err == nil {
			t.Errorf("part %d changed: got no error, want wrong signature", part)
		}
	}
}

// TestLogOmitsSecrets checks that the log repeats neither the key nor the content of
// rejected messages.
func TestLogOmitsSecrets(t *testing.T) {
	const secret = "hunter2"
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Key: key})
	shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
	stdin := s.dial(t, zmq4.Dealer, s.conn.StdinPort)
	// sent first, because the log drops lines above its rate
	send(t, shell, frames("<IDS|MSG>", secret, secret, secret, secret, secret))
	send(t, shell, frames(secret, secret))
	for i, content := range []string{
		`{"code":"` + secret + `"`, `{"code":["` + secret + `"]}`, `{"code":"error E ` + secret + `"}`,
		`"` + secret + `"`, secret, `{"code":"result x","user_expressions":{"a":"` + secret + `"}}`,
	} {
		for _, msgType := range []string{"execute_request", "complete_request", "comm_open", "comm_msg", "history_request"} {
			send(t, shell, message(header(fmt.Sprint(msgType, i), msgType), content))
		}
	}
	for i, content := range []string{`{"value":"` + secret + `"}`, `{"value":["` + secret + `"]}`, secret} {
		send(t, stdin, message(header(fmt.Sprint("input", i), "input_reply"), content))
	}
	send(t, shell, message(header("last", "kernel_info_request"), "{}"))
	for parent := ""; parent != "last"; {
		_, parent, _ = receive(t, shell)
	}
	s.stop(t)
	got := s.log.String()
	if !strings.Contains(got, "wrong signature") {
		t.Errorf("got log %q, want it to contain %q", got, "wrong signature")
	}
	for _, unwanted := range []string{secret, key} {
		if strings.Contains(got, unwanted) {
			t.Errorf("the log contains the secret %q:\n%s", unwanted, got)
		}
	}
}

// TestConnectionFileIsReused checks that a kernel leaves its connection file unchanged
// when it ends, and creates no other files but the history and, until the last, the signatures next to it.
func TestConnectionFileIsReused(t *testing.T) {
	path := connectionFile(t, 0o600)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		s := serveConfig(t, &kerneltest.Echo{}, jupyter.Config{ConnectionFile: path, History: filepath.Join(filepath.Dir(path), "h.sqlite")})
		control := s.dial(t, zmq4.Dealer, s.conn.ControlPort)
		shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
		send(t, shell, message(header(fmt.Sprint("cell", n), "execute_request"), `{"code":"result 1"}`)) // the same message would be refused
		receive(t, shell)
		again := n < 2
		send(t, control, message(header(fmt.Sprint(n), "shutdown_request"), fmt.Sprintf(`{"restart":%v}`, again)))
		if msgType, _, content := receive(t, control); msgType != "shutdown_reply" || content["restart"] != again {
			t.Errorf("got %s %v, want a shutdown_reply with restart", msgType, content)
		}
		s.stop(t)
		if kept := strings.Contains(list(t, filepath.Dir(path)), "h.sqlite.seen-"); kept != again {
			t.Errorf("restart %v: got the signatures kept %v", again, kept)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("connection file: got %s, %v; want %s", after, err, before)
	}
	if files := list(t, filepath.Dir(path)); files != "c.json h.sqlite" {
		t.Errorf("got files %q, want the connection file and the history", files)
	}
}

// TestReplayAfterRestart sends messages again that an earlier kernel with the same key received, after a restart and after the end of a
// process that could do nothing more. New messages are served.
func TestReplayAfterRestart(t *testing.T) {
	path := connectionFile(t, 0o600)
	config := jupyter.Config{ConnectionFile: path, History: filepath.Join(t.TempDir(), "h.sqlite")}
	var recorded [][][]byte
	for n := range 3 {
		s := serveConfig(t, &kerneltest.Echo{}, config)
		shell := s.dial(t, zmq4.Dealer, s.conn.ShellPort)
		for _, m := range recorded {
			send(t, shell, m)
		}
		id := fmt.Sprint("cell", n)
		m := message(header(id, "execute_request"), `{"code":"result 1"}`)
		recorded = append(recorded, m)
		send(t, shell, m)
		if msgType, parent, content := receive(t, shell); msgType != "execute_reply" || parent != id || content["execution_count"] != 1. {
			t.Errorf("kernel %d: got %s to %s, count %v, want a reply to the new message only", n, msgType, parent, content["execution_count"])
		}
		kept, err := filepath.Glob(config.History + ".seen-*")
		if err != nil || len(kept) != 1 {
			t.Fatalf("got the files %q, %v, want one with signatures", kept, err)
		}
		text, err := os.ReadFile(kept[0]) // what a process leaves behind that is killed now
		if err != nil {
			t.Fatal(err)
		}
		s.stop(t)
		if err := os.WriteFile(kept[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTakenPort checks that a kernel that cannot start, because a port is taken, leaves no file with signatures behind.
func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := connectionFile(t, 0o600)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var conn jupyter.Connection
	if err := json.Unmarshal(text, &conn); err != nil {
		t.Fatal(err)
	}
	conn.ShellPort = l.Addr().(*net.TCPAddr).Port
	if text, err = json.Marshal(conn); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	err = jupyter.Serve(t.Context(), jupyter.Config{ConnectionFile: path, History: filepath.Join(filepath.Dir(path), "h.sqlite")}, &kerneltest.Echo{})
	if err == nil {
		t.Fatal("the kernel starts")
	}
	if files := list(t, filepath.Dir(path)); strings.Contains(files, ".seen-") {
		t.Errorf("got files %q, want none with signatures", files)
	}
}

func TestSocketFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, &kerneltest.Echo{}, jupyter.Connection{Transport: "ipc", IP: dir + "/k", Key: key, ShellPort: 1, IOPubPort: 2, StdinPort: 3, ControlPort: 4, HeartbeatPort: 5})
	if files := list(t, dir); files != "k-1 k-2 k-3 k-4 k-5" {
		t.Errorf("while the kernel runs: got files %q, want its five sockets", files)
	}
	s.stop(t)
	if files := list(t, dir); files != "" {
		t.Errorf("after the kernel has ended: got files %q, want none", files)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
