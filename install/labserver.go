package install

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// grace is what the server gets to stop its kernels before it is killed.
const grace = 10 * time.Second

// serve runs the server on the folder dir, with the kernels of data before all others,
// until it or ctx ends.
func (e environment) serve(ctx context.Context, dir, data string, o LabOptions) error {
	// A closed terminal ends it as Ctrl-C does.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	// The server leaves a file with its address in its runtime folder: one of its
	// own tells which file that is.
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
		args = append(args, "--allow-root") // as in a container; it listens on loopback
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
		// The kernel counts the thread that starts a process as its parent.
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

// serverAddress is the address in the file that a running server leaves, "" when
// there is none yet.
func serverAddress(run string) string {
	files, _ := filepath.Glob(filepath.Join(run, "jpserver-*.json"))
	for _, path := range files {
		var info struct{ URL, Token string }
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &info) != nil || info.URL == "" {
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

func randomToken() string {
	b := make([]byte, 24)
	rand.Read(b)
	return hex.EncodeToString(b)
}
