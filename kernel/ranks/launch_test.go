package ranks

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFindLauncher identifies launchers by what their --version prints.
func TestFindLauncher(t *testing.T) {
	for _, c := range []struct{ name, says, want string }{
		{"mpiexec", "HYDRA build details:\n    Version: 5.0.2", "MPICH"},
		{"mpirun", "mpirun (Open MPI) 4.1.4", "Open MPI"},
		{"mpirun", "mpirun (Open MPI) 5.0.11", "Open MPI"},
		{"srun", "slurm 22.05.8", "Slurm"},
		{"own", "something else", "own"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "bin", c.name)
		if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o755); err != nil {
			t.Fatal(err)
		}
		os.Mkdir(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'END'\n"+c.says+"\nEND\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		library := filepath.Join(dir, "lib", "libmpi.so.40")
		os.WriteFile(library, nil, 0o644)
		l, err := FindLauncher(t.Context(), path+" --flag")
		if err != nil || l.Name != c.want || l.Command[0] != path {
			t.Errorf("%s: got %v, %v, want %s at %s", c.says, l, err, c.want, path)
		}
		if (l.Library == library) != (c.want == "Open MPI") {
			t.Errorf("%s: got library %q", c.says, l.Library)
		}
		argv := l.argv(3, []string{"program", "x"})
		if got := strings.Join(argv, " "); !strings.HasPrefix(got, path+" --flag -n 3 ") || !strings.HasSuffix(got, " program x") {
			t.Errorf("%s: got command line %s", c.says, got)
		}
		if !l.several() {
			t.Errorf("%s: a command line with a flag may name hosts", c.says)
		}
	}
}

func TestFindLauncherInFolders(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", filepath.Join(dir, "none"))
	t.Setenv(VariableLauncher, "")
	if _, err := FindLauncher(t.Context(), "", dir); err == nil || !strings.Contains(err.Error(), "pip install mpich") {
		t.Errorf("got error %v, want advice", err)
	}
	path := filepath.Join(dir, "mpiexec")
	os.WriteFile(path, []byte("#!/bin/sh\necho x\n"), 0o755)
	l, err := FindLauncher(t.Context(), "", filepath.Join(dir, "none"), dir)
	if err != nil || !slices.Equal(l.Command, []string{path}) {
		t.Errorf("got %v, %v, want %s", l, err, path)
	}
	if _, err := FindLauncher(t.Context(), "nosuch -x"); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("got error %v, want it to name nosuch", err)
	}
}

// TestGather refuses ranks that did not start and launchers that end too early.
func TestGather(t *testing.T) {
	sh := func(script string) Launcher { return Launcher{Name: "sh", Command: []string{"/bin/sh", "-c", script}} }
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Ranks: 2, Launcher: sh("exit 7"), Program: []string{self}}, "ended (exit status 7) before all 2 ranks had started"},
		{Options{Ranks: 2, Launcher: sh("sleep 60"), Program: []string{self}, Patience: time.Millisecond}, "ranks: ranks 0, 1 did not start within 1ms"},
		{Options{Ranks: 1, Launcher: sh("sleep 60"), Program: []string{self}, Patience: time.Millisecond}, "ranks: rank 0 did not start within 1ms"},
		{Options{Ranks: 0, Program: []string{self}}, "ranks: 0 ranks, want at least 1"},
		{Options{Ranks: 1, Launcher: Launcher{Command: []string{absent}}, Program: []string{self}}, "ranks: start " + absent + " -n 1 "},
	} {
		if err := Launch(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

// TestAdmit refuses ranks that do not fit.
func TestAdmit(t *testing.T) {
	h := &hub{o: Options{Ranks: 2, Launcher: Launcher{Name: "x"}}, program: "p", members: make([]*member, 2)}
	for _, c := range []struct {
		g    greeting
		want string
	}{
		{greeting{Rank: 1, Host: "b", Pid: 5, Program: "p"}, ""},
		{greeting{Rank: 1, Host: "c", Pid: 6, Program: "p"}, "two processes are rank 1: 5 on b and 6 on c"},
		{greeting{Rank: 2, Host: "c", Pid: 6, Program: "p"}, "rank 2, want ranks 0 to 1"},
		{greeting{Rank: 0, Host: "c", Pid: 6, Program: "q"}, "rank 0 on c runs another program (q) than this machine (p)"},
	} {
		err := h.admit(&member{greeting: c.g})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got error %v, want %q", c.g, err, c.want)
		}
	}
}

func TestInvitation(t *testing.T) {
	v := invitation{4, "host:1", "ab", "secret"}
	if got, err := parseInvitation(v.String()); err != nil || got != v {
		t.Errorf("got %v, %v, want %v", got, err, v)
	}
	for _, s := range []string{"", "4 host:1 ab", "x host:1 ab secret", "0 host:1 ab secret"} {
		if _, err := parseInvitation(s); err == nil {
			t.Errorf("%q: got no error", s)
		}
	}
}

// TestAddresses gives other machines the name of this one and its addresses.
func TestAddresses(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	if got := ownAddresses(); got[0] != name {
		t.Errorf("got %q, want %s first", got, name)
	}
	if got, want := withPort([]string{"a", "fd00::1"}, "5"), "a:5,[fd00::1]:5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The second of two addresses answers.
	certificate, print, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.(*tls.Conn).Handshake()
		}
	}()
	addresses := "127.0.0.1:1," + l.Addr().String()
	c, err := dial(invitation{addresses: addresses, fingerprint: print})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := dial(invitation{addresses: addresses, fingerprint: "00"}); err == nil || !strings.Contains(err.Error(), "the certificate differs") {
		t.Errorf("another certificate: got error %v", err)
	}
}

// TestTail finds the lines of one rank by the labels of launchers.
func TestTail(t *testing.T) {
	for _, label := range []string{"[%] ", "[1,%]<stderr>: ", "[1,%]<stderr>:", "%: "} {
		one := strings.ReplaceAll(label, "%", "1")
		two := strings.ReplaceAll(label, "%", "12")
		tl := &tail{}
		tl.Write([]byte("start\n" + one + "fatal error\n" + two + "other\n" + one + "the end\n"))
		if got := tl.of(1); got != "fatal error\nthe end" {
			t.Errorf("%s: got %q", label, got)
		}
	}
}
