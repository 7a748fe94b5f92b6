package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// peerProgram is the peers' side of the protocol: a Python program whose arguments are the
// library, the number of threads and the device.
//
//go:embed peer.py
var peerProgram string

// side is a measured process: halfnote's or a peer's.
type side struct {
	name  string
	about reply
	argv  []string

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr *tail
	ended  bool
}

// startSide starts a command that speaks the protocol in a folder, pinned to that many processors, and asks
// for its description. The process ends when ctx ends.
func startSide(ctx context.Context, name, dir string, threads int, argv []string, env ...string) (*side, error) {
	s := &side{name: name, argv: argv, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), stderr: &tail{}}
	s.cmd.Dir, s.cmd.Stderr = dir, s.stderr
	s.cmd.Env = append(surroundings(threads), env...)
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	s.in, s.out = in, json.NewDecoder(out)
	endWithUs(s.cmd)
	if err := pinned(threads, s.cmd.Start); err != nil {
		return nil, fmt.Errorf("bench: start %s: %w", name, err)
	}
	if s.about, err = s.ask(request{Do: "about"}); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// surroundings returns the environment of a process that should use that many threads.
func surroundings(threads int) (env []string) {
	counts := []string{"GOMAXPROCS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !slices.Contains(counts, name) && name != "OPENBLAS_CORETYPE" {
			env = append(env, v)
		}
	}
	for _, name := range counts {
		env = append(env, name+"="+strconv.Itoa(threads))
	}
	return env
}

// failure is the error of a process that cannot do some work.
type failure struct{ who, why string }

func (f failure) Error() string { return "bench: " + f.who + ": " + f.why }

// ask sends a request and returns the reply. The process is paused before and after. The error
// is a failure, or reports that the process has ended.
func (s *side) ask(q request) (reply, error) {
	resume(s.cmd.Process)
	defer func() {
		if !s.ended {
			pause(s.cmd.Process)
		}
	}()
	line, err := json.Marshal(q)
	if err != nil {
		return reply{}, fmt.Errorf("bench: %w", err)
	}
	var a reply
	if _, err = s.in.Write(append(line, '\n')); err == nil {
		err = s.out.Decode(&a)
	}
	switch {
	case err != nil:
		s.end() // waits until all its output has been read
		return a, fmt.Errorf("bench: %s ended or did not reply to %s: %w%s", s.name, q.Do, err, s.stderr)
	case a.Error != "":
		return a, failure{s.name, a.Error}
	}
	return a, nil
}

// end ends the process; later calls do nothing.
func (s *side) end() {
	if s.ended {
		return
	}
	s.ended = true
	s.cmd.Process.Kill()
	resume(s.cmd.Process)
	s.in.Close()
	s.cmd.Wait()
}

// tail is a writer that keeps the end of the written text.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(p), nil
}

func (t *tail) String() string {
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return "\n" + text
	}
	return ""
}
