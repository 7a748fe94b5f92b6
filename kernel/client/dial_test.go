package client

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// TestDialRetries checks that dial tries again when another process on the port closes
// the connection.
func TestDialRetries(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "tcp://" + other.Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	router := zmq4.NewRouter(ctx)
	defer router.Close()
	listens := make(chan error, 1)
	go func() {
		for range 2 {
			if c, err := other.Accept(); err == nil {
				c.(*net.TCPConn).SetLinger(0) // a reset
				c.Close()
			}
		}
		other.Close()
		listens <- router.Listen(endpoint)
	}()
	dealer := zmq4.NewDealer(ctx, zmq4.WithDialerRetry(2*time.Millisecond), zmq4.WithDialerMaxRetries(-1))
	defer dealer.Close()
	if err := dial(ctx, func() error { return dealer.Dial(endpoint) }); err != nil {
		t.Fatalf("dial after another process on the port: %v", err)
	}
	if err := <-listens; err != nil {
		t.Fatal(err)
	}
	if err := dealer.Send(zmq4.NewMsgString("hello")); err != nil {
		t.Fatal(err)
	}
	m, err := router.Recv()
	if err != nil || string(m.Frames[len(m.Frames)-1]) != "hello" {
		t.Errorf("got message %q, %v, want the one that was sent", m.Frames, err)
	}
}
