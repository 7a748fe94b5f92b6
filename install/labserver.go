package install

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grace is the time that the server has to stop its kernels before it is killed.
const grace = 10 * time.Second

// serve runs the server on the folder dir, with the kernels of data before all others,
// until it or ctx ends.
func (e environment) serve(ctx context.Context, dir, data string, o LabOptions) error {
	// Closing the terminal ends it, as Ctrl-C does.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	// The server writes a file with its address into its runtime folder. A runtime
	// folder of its own makes that file the only one.
	run, err := os.MkdirTemp("", "halfnote-lab-")
	if err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	defer os.RemoveAll(run)

	args := []string{"-m", "jupyterlab", "--ServerApp.root_dir=" + dir, "--ServerApp.answer_yes=True",
		"--MultiKernelManager.default_kernel_name=halfnote", "--log-level=WARN"}
	if o.Port != 0 {
		args = append(args, "--port="+strconv.Itoa(o.Port))
	}
	if o.NoBrowser {
		args = append(args, "--no-browser")
	}
	if runtime.GOOS != "windows" && os.Geteuid() == 0 {
		args = append(args, "--allow-root") // for containers; it listens on loopback
	}
	cmd := e.command(ctx, append(args, o.Args...)...)
	cmd.Stdout, cmd.Stderr = o.Stderr, o.Stderr
	cmd.Env = append(cmd.Env, "JUPYTER_RUNTIME_DIR="+run, "JUPYTER_PREFER_ENV_PATH=1",
		"JUPYTER_PATH="+strings.TrimRight(data+string(os.PathListSeparator)+os.Getenv("JUPYTER_PATH"), string(os.PathListSeparator)),
		"JUPYTER_CONFIG_DIR="+filepath.Join(e.dir, "config"))
	if os.Getenv("JUPYTER_TOKEN") == "" {
		cmd.Env = append(cmd.Env, "JUPYTER_TOKEN="+randomToken())
	}
	endWithParent(cmd)
	cmd.Cancel = func() error { return askToEnd(cmd) }
	cmd.WaitDelay = grace

	ended := make(chan error, 1)
	go func() {
		// Linux regards the thread that starts a process as its parent.
		runtime.LockOSThread()
		ended <- cmd.Run()
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for told := false; ; {
		select {
		case err := <-ended:
			endGroup(cmd)
			switch {
			case ctx.Err() != nil:
				return nil
			case err == nil && told: // shut down from its own menu
				return nil
			case err == nil:
				err = errors.New("it ended at once")
			}
			return fmt.Errorf("install: lab: JupyterLab: %w", err)
		case <-tick.C:
			if address := serverAddress(run); !told && address != "" {
				told = true
				fmt.Fprintf(o.Stdout, "JupyterLab: %s\nCtrl-C ends it.\n", address)
			}
		}
	}
}

// serverAddress returns the address in the file of a running server, "" until the server
// accepts connections.
func serverAddress(run string) string {
	files, _ := filepath.Glob(filepath.Join(run, "jpserver-*.json"))
	for _, path := range files {
		var info struct{ URL, Token string }
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &info) != nil || info.URL == "" || !listens(info.URL) {
			continue
		}
		address := info.URL + "lab"
		if info.Token != "" {
			address += "?token=" + url.QueryEscape(info.Token)
		}
		return address
	}
	return ""
}

// listens reports whether the server at an address accepts connections. It writes its file
// a little earlier.
func listens(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	c, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func randomToken() string {
	b := make([]byte, 24)
	rand.Read(b)
	return hex.EncodeToString(b)
}
