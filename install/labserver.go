package install

import (
	"cmp"
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const jupyterPort = 8888 // Jupyter's default

// configDir is the folder of the server's configuration in the environment.
const configDir = "config"

// grace is the time limit for the server to stop its kernels before it is killed.
const grace = 10 * time.Second

// serve runs the server on the folder dir until it or ctx ends. The kernels in data
// precede all others. It calls started before it prints the address.
func (e environment) serve(ctx context.Context, dir, data string, o LabOptions, started func()) error {
	// Closing the terminal ends the server, as Ctrl-C does.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	// The server writes a file with its address into its runtime folder. In a new
	// runtime folder it is the only such file.
	run, err := os.MkdirTemp("", "halfnote-lab-")
	if err != nil {
		return fmt.Errorf("install: lab: %w", err)
	}
	defer os.RemoveAll(run)

	args := []string{"-m", "jupyterlab", "--ServerApp.root_dir=" + dir, "--ServerApp.answer_yes=True",
		"--MultiKernelManager.default_kernel_name=halfnote", "--KernelSpecManager.ensure_native_kernel=False",
		"--custom-css", "--log-level=ERROR", "--LabApp.log_level=ERROR"} // its warnings are about settings, and about notebooks that are not trusted
	args = append(args, exporterArgs()...)
	if idle := int(o.Idle.Seconds()); idle > 0 {
		args = append(args, "--MappingKernelManager.cull_idle_timeout="+strconv.Itoa(idle), "--MappingKernelManager.cull_interval="+strconv.Itoa(max(1, min(idle, 300))))
		fmt.Fprintf(o.Stdout, "A kernel that runs no cell and that no page shows ends after %v, and the history keeps its cells and outputs; --idle sets the time.\n", o.Idle)
	}
	if o.Port != 0 {
		args = append(args, "--port="+strconv.Itoa(o.Port))
	}
	if o.NoBrowser {
		args = append(args, "--no-browser")
	}
	if runtime.GOOS != "windows" && os.Geteuid() == 0 {
		args = append(args, "--allow-root") // for containers; the server listens on loopback only
	}
	cmd := e.command(ctx, append(args, fromHere(o.Args)...)...)
	cmd.Dir = run // what the server starts, such as pip, imports nothing from the working folder either
	cmd.Stdout, cmd.Stderr = o.Stderr, o.Stderr
	cmd.Env = append(cmd.Env, "JUPYTER_RUNTIME_DIR="+run, "JUPYTER_PREFER_ENV_PATH=1",
		"JUPYTER_PATH="+strings.TrimRight(data+string(os.PathListSeparator)+os.Getenv("JUPYTER_PATH"), string(os.PathListSeparator)),
		"JUPYTER_CONFIG_DIR="+filepath.Join(e.dir, configDir))
	// The server reads its token from a file: the environment is that of kernels and terminals too.
	if token := cmp.Or(os.Getenv("JUPYTER_TOKEN"), randomToken()); os.Getenv("JUPYTER_TOKEN") != "" || os.Getenv("JUPYTER_TOKEN_FILE") == "" {
		file := filepath.Join(run, "token")
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			return fmt.Errorf("install: lab: %w", err)
		}
		cmd.Env = append(cmd.Env, "JUPYTER_TOKEN_FILE="+file)
	}
	endWithParent(cmd)
	cmd.Cancel = func() error { return askToEnd(cmd) }
	cmd.WaitDelay = grace

	ended := make(chan error, 1)
	go func() {
		// Linux treats the thread that starts a process as its parent.
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
			case err == nil && told: // shut down from JupyterLab's menu
				return nil
			case err == nil:
				err = errors.New("the server ended at once")
			}
			return fmt.Errorf("install: lab: JupyterLab: %w", err)
		case <-tick.C:
			if address := serverAddress(run); !told && address != "" {
				told = true
				started()
				wanted := strconv.Itoa(cmp.Or(o.Port, jupyterPort))
				if u, err := url.Parse(address); err == nil && u.Port() != wanted && listens("http://127.0.0.1:"+wanted) {
					fmt.Fprintf(o.Stdout, "Port %s is in use, so the server uses %s.\n", wanted, u.Port())
				}
				fmt.Fprintf(o.Stdout, "JupyterLab: %s\nCtrl-C ends it.\n", address)
			}
		}
	}
}

// fromHere returns arguments in which the names of files of the working folder are absolute, for a program that starts elsewhere.
func fromHere(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		flag, name, ok := strings.Cut(arg, "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			flag, name = "", arg
		case ok:
			flag += "="
		}
		if _, err := os.Stat(name); err != nil || name == "" {
			continue
		}
		if path, err := filepath.Abs(name); err == nil {
			args[i] = flag + path
		}
	}
	return args
}

// serverAddress returns the address in the file of a running server. It returns "" until
// the server accepts connections.
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

// listens reports whether the server at an address accepts connections, which begins a
// little after the server has written its file.
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
