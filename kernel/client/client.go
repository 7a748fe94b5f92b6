// Package client is a Jupyter client over ZeroMQ: it starts a kernel process, runs
// cells on it and collects their outputs.
//
// It works with any kernel that has a kernelspec:
//
//	spec, err := client.FindSpec("halfnote")
//	k, err := client.Start(ctx, spec, client.Options{Stderr: os.Stderr})
//	defer k.Close()
//	reply, err := k.Execute(ctx, "1 + 1", client.ExecuteOptions{}, func(m client.Message) {
//		fmt.Println(m.Header.Type, string(m.Content))
//	})
//	err = k.Shutdown(ctx, false)
//
// It handles messages, not notebooks: the use of an output is up to the caller.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/jupyter"
)

// Options are the settings for starting a kernel.
type Options struct {
	// Stderr gets what the kernel writes to its own stdout and stderr, outside any
	// cell; nil discards it. An ExitError holds the last lines in either case.
	Stderr io.Writer
	// Dir is the kernel's working directory; "" is the caller's.
	Dir string
	// Env is added to the environment, as NAME=value, after the kernelspec's.
	Env []string
	// TransportEncryption is "disabled", the default; "auto", which encrypts the connection
	// if the kernelspec lists CURVE; or "required", which fails
	// otherwise. It is jupyter_client's KernelManager.transport_encryption.
	TransportEncryption string
	// Late gets the iopub messages that no call waits for: output that arrives after
	// its cell has ended, or without a parent. It is called in order from one
	// goroutine, which waits for it to return; nil drops the messages.
	Late func(Message)
}

// Message is a message of the kernel with its channel: "shell", "iopub", "stdin" or
// "control".
type Message struct {
	Channel string
	kernel.Message
}

// Decode decodes the message's content into v, like [json.Unmarshal].
func (m Message) Decode(v any) error {
	if err := json.Unmarshal(m.Content, v); err != nil {
		return fmt.Errorf("client: content of %s: %w", m.Header.Type, err)
	}
	return nil
}

// Info is the kernel's description of itself, kernel_info_reply.
type Info struct {
	ProtocolVersion       string         `json:"protocol_version"`
	Implementation        string         `json:"implementation"`
	ImplementationVersion string         `json:"implementation_version"`
	Banner                string         `json:"banner"`
	LanguageInfo          map[string]any `json:"language_info"`
	SupportedFeatures     []string       `json:"supported_features"`
	Engine                string         `json:"engine"` // how a halfnote kernel runs cells, such as "compiled cells"; "" from others
}

// Kernel is a running kernel and the connection to it. Its methods may be called from
// any goroutine.
type Kernel struct {
	spec    Spec
	options Options
	process *process
	conn    jupyter.Connection
	dir     string // directory of the connection file
	codec   *jupyter.Codec
	session *kernel.Session
	info    Info
	greeted atomic.Bool // whether Start is about to return

	ctx     context.Context // context of the sockets
	cancel  context.CancelFunc
	sockets map[string]zmq4.Socket
	loops   sync.WaitGroup
	lost    chan struct{} // closed when a channel has ended
	closing sync.Once

	mu      sync.Mutex
	calls   map[string]*Call // calls by msg_id
	lostErr error
}

// Start starts a kernel and waits until it answers and its iopub messages arrive. The
// error is an [*ExitError] if the kernel ended instead, or ctx's. The caller must call
// Close.
func Start(ctx context.Context, spec Spec, o Options) (*Kernel, error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("client: kernelspec: argv is empty, want a command")
	}
	for try := 1; ; try++ {
		k, err := start(ctx, spec, o)
		if err == nil {
			return k, nil
		}
		var exit *ExitError
		if try == 3 || !errors.As(err, &exit) || !exit.addressInUse() && !anyTaken(k.conn) {
			return nil, err
		}
		// Another process took a port between our choice of it and the kernel's bind. It may
		// have released it since.
	}
}

func start(ctx context.Context, spec Spec, o Options) (k *Kernel, err error) {
	user := os.Getenv("USER")
	if user == "" {
		user = "client"
	}
	k = &Kernel{
		spec: spec, options: o, session: kernel.NewSession(user),
		calls: map[string]*Call{}, lost: make(chan struct{}), sockets: map[string]zmq4.Socket{},
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			k.Close()
		}
	}()
	encrypt, err := o.encrypts(spec)
	if err != nil {
		return k, err
	}
	if k.conn, err = newConnection(encrypt); err != nil {
		return k, err
	}
	k.codec = jupyter.NewCodec(k.conn.Key)
	var file string
	if k.dir, file, err = writeConnection(k.conn); err != nil {
		return k, err
	}
	if k.process, err = startProcess(spec, file, o); err != nil {
		return k, err
	}
	if err = k.connect(ctx); err != nil {
		return k, err
	}
	return k, k.greet(ctx)
}

// greet requests kernel_info until the statuses of a reply arrive on iopub too: a
// subscription takes effect some time after it was made.
func (k *Kernel) greet(ctx context.Context) error {
	for {
		c, err := k.Send("shell", "kernel_info_request", struct{}{})
		if err != nil {
			return err
		}
		if err := c.wait(ctx, nil, true, false); err != nil {
			c.close()
			return err
		}
		heard, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		err = c.wait(heard, nil, true, true)
		cancel()
		c.close()
		if err == nil {
			k.greeted.Store(true)
			return c.reply.Decode(&k.info)
		}
		if ctx.Err() != nil || heard.Err() == nil {
			return err
		}
	}
}

// Info returns the kernel's description of itself from its start.
func (k *Kernel) Info() Info { return k.info }

// Connection returns the addresses of the kernel.
func (k *Kernel) Connection() jupyter.Connection { return k.conn }

// Pid returns the id of the kernel's process.
func (k *Kernel) Pid() int { return k.process.cmd.Process.Pid }

// Exited returns a channel that is closed when the kernel's process has ended.
func (k *Kernel) Exited() <-chan struct{} { return k.process.exited }

// Interrupt interrupts the running cell, in the way that the kernelspec requests.
func (k *Kernel) Interrupt(ctx context.Context) error {
	if k.spec.InterruptMode != "message" {
		return k.process.signal()
	}
	_, err := k.Request(ctx, "control", "interrupt_request", struct{}{})
	return err
}

// Shutdown asks the kernel to end and waits for it. If ctx ends first, the kernel is
// killed, and the error is ctx's.
func (k *Kernel) Shutdown(ctx context.Context, restart bool) error {
	_, err := k.Request(ctx, "control", "shutdown_request", map[string]bool{"restart": restart})
	var exit *ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return err
	}
	select {
	case <-k.process.exited:
		return nil
	case <-ctx.Done():
		k.process.kill()
		<-k.process.exited
		return ctx.Err()
	}
}

// Close kills the kernel, if it is still running, and releases its resources. Waiting
// calls return.
func (k *Kernel) Close() error {
	k.closing.Do(func() {
		if k.process != nil {
			select {
			case <-k.process.exited:
			default:
				k.process.kill()
				<-k.process.exited
			}
			// The connections have ended with the process, so the loops read the
			// remaining messages and end.
			k.drained()
		}
		k.cancel()
		for _, s := range k.sockets {
			s.Close()
		}
		if k.dir != "" {
			os.RemoveAll(k.dir)
		}
	})
	return nil
}
