package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-zeromq/zmq4"

	"halfnote/kernel"
	"halfnote/kernel/curve"
	"halfnote/kernel/guard"
	"halfnote/kernel/jupyter"
)

// newConnection chooses five free ports of the loopback interface. Another process may
// take one before the kernel does; Jupyter has the same race.
func newConnection(encrypt bool) (jupyter.Connection, error) {
	c := jupyter.Connection{
		Transport: "tcp", IP: "127.0.0.1", Key: kernel.NewID(), SignatureScheme: jupyter.SignatureScheme,
	}
	if encrypt {
		c.CurvePublicKey, c.CurveSecretKey = curve.NewKeys().Z85()
	}
	for _, port := range []*int{&c.ShellPort, &c.IOPubPort, &c.StdinPort, &c.ControlPort, &c.HeartbeatPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return c, fmt.Errorf("client: choose a port: %w", err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return c, nil
}

// encrypts reports whether the connection to a kernel is encrypted.
func (o Options) encrypts(spec Spec) (bool, error) {
	switch o.TransportEncryption {
	case "", "disabled":
		return false, nil
	case "auto":
		return spec.supportsCurve(), nil
	case "required":
		if !spec.supportsCurve() {
			return false, errors.New("client: encryption is required, but the kernelspec's metadata.supported_encryption lacks curve")
		}
		return true, nil
	}
	return false, fmt.Errorf("client: transport encryption %q, want disabled, auto or required", o.TransportEncryption)
}

// anyTaken reports whether a process listens on one of c's ports.
func anyTaken(c jupyter.Connection) bool {
	for _, port := range []int{c.ShellPort, c.IOPubPort, c.StdinPort, c.ControlPort, c.HeartbeatPort} {
		l, err := net.Listen(c.Address(port))
		if err != nil {
			return true
		}
		l.Close()
	}
	return false
}

// writeConnection writes the connection file, readable by this user only.
func writeConnection(c jupyter.Connection) (dir, file string, err error) {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", "", err
	}
	dir, err = os.MkdirTemp("", "kernel-")
	if err != nil {
		return "", "", fmt.Errorf("client: connection file: %w", err)
	}
	file = filepath.Join(dir, "kernel-"+kernel.NewID()+".json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return dir, "", fmt.Errorf("client: connection file: %w", err)
	}
	return dir, file, nil
}

// connect opens the channels; the kernel may still be starting.
func (k *Kernel) connect(ctx context.Context) error {
	options := []zmq4.Option{
		// Shell and stdin must have one identity: the kernel addresses its input
		// requests by it.
		zmq4.WithID(zmq4.SocketIdentity(k.session.ID)),
		zmq4.WithDialerRetry(2 * time.Millisecond), zmq4.WithDialerMaxRetries(-1),
		zmq4.WithLogger(log.New(io.Discard, "", 0)),
	}
	k.sockets["shell"] = zmq4.NewDealer(k.ctx, options...)
	k.sockets["control"] = zmq4.NewDealer(k.ctx, options...)
	k.sockets["stdin"] = zmq4.NewDealer(k.ctx, options...)
	k.sockets["iopub"] = zmq4.NewSub(k.ctx, options...)
	k.sockets["hb"] = zmq4.NewDealer(k.ctx, options...)
	if err := k.sockets["iopub"].SetOption(zmq4.OptionSubscribe, ""); err != nil {
		return fmt.Errorf("client: iopub: %w", err)
	}
	ports := map[string]int{
		"shell": k.conn.ShellPort, "control": k.conn.ControlPort, "stdin": k.conn.StdinPort,
		"iopub": k.conn.IOPubPort, "hb": k.conn.HeartbeatPort,
	}
	keys, err := k.conn.CurveKeys()
	if err != nil {
		return fmt.Errorf("client: connection: %w", err)
	}
	dialed := make(chan error, len(ports))
	for channel, port := range ports {
		go func() {
			s := k.sockets[channel]
			err := dial(ctx, func() error {
				if keys == nil {
					return s.Dial(k.conn.Endpoint(port))
				}
				network, address := k.conn.Address(port)
				return guard.Dial(s, network, address, keys)
			})
			if err != nil {
				err = fmt.Errorf("client: %s: %w", channel, err)
			}
			dialed <- err
		}()
	}
	for range ports {
		select {
		case err := <-dialed:
			if err != nil {
				return k.orExit(err)
			}
		case <-k.process.exited:
			return k.process.err()
		case <-ctx.Done():
			return fmt.Errorf("client: the kernel is not listening: %w", ctx.Err())
		}
	}
	for _, channel := range []string{"shell", "control", "stdin", "iopub"} {
		k.loops.Go(func() { k.receive(channel) })
	}
	return nil
}

// dial connects a socket by a function. It tries again while the peer closes the connection before
// the handshake: for a moment the peer may be a process that chooses ports, as
// [newConnection] does, and not the kernel, which has yet to start.
func dial(ctx context.Context, connect func() error) error {
	for {
		err := connect()
		var broken *net.OpError
		if err == nil || !errors.As(err, &broken) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// receive passes on the messages of a channel until it ends.
func (k *Kernel) receive(channel string) {
	for {
		frames, err := k.sockets[channel].Recv()
		if err != nil {
			k.lose(fmt.Errorf("client: %s: connection closed: %w", channel, err))
			return
		}
		m, err := k.codec.Decode(frames.Frames)
		if err != nil {
			fmt.Fprintf(k.process.tail, "client: %s: dropped a message: %v\n", channel, err)
			continue
		}
		k.deliver(Message{Channel: channel, Message: m})
	}
}

func (k *Kernel) lose(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lostErr == nil {
		k.lostErr = err
		close(k.lost)
	}
}

// orExit returns the process's end as the cause of err, if the process has ended or is
// about to.
func (k *Kernel) orExit(err error) error {
	select {
	case <-k.process.exited:
		return k.process.err()
	case <-time.After(2 * time.Second):
		return err
	}
}

// Heartbeat sends bytes that the kernel must echo, and waits for them. It detects a
// stuck process; a running cell does not delay it.
func (k *Kernel) Heartbeat(ctx context.Context) error {
	id := kernel.NewID()
	s := k.sockets["hb"]
	if err := s.SendMulti(zmq4.NewMsgFrom(nil, []byte(id))); err != nil { // REP requires the empty frame
		return k.orExit(fmt.Errorf("client: heartbeat: %w", err))
	}
	answer := make(chan error, 1)
	go func() {
		for {
			m, err := s.Recv()
			if err != nil || len(m.Frames) > 0 && string(m.Frames[len(m.Frames)-1]) == id {
				answer <- err
				return
			}
		}
	}()
	select {
	case err := <-answer:
		if err != nil {
			return k.orExit(fmt.Errorf("client: heartbeat: %w", err))
		}
		return nil
	case <-k.process.exited:
		return k.process.err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
