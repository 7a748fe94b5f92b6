package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// signals serves the communication port. Each connection carries one request and closes.
type signals struct {
	net.Listener
}

const (
	maxRequest  = 4 << 10
	requestTime = 5 * time.Second
	atOnce      = 16 // connections that are served at a time; the next one takes the place of the oldest
)

func (s *signals) port() int { return s.Addr().(*net.TCPAddr).Port }

// serve handles requests until the port is closed, by a request or by Close.
func (s *signals) serve(log *log.Logger) {
	var open []net.Conn // the oldest first
	var mu sync.Mutex
	for {
		c, err := s.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			log.Printf("remote: signals: %v", err)
			time.Sleep(requestTime / 50) // out of descriptors, most likely
			continue
		}
		mu.Lock()
		if open = append(open, c); len(open) > atOnce { // a server sends its request at once
			open[0].Close()
			open = open[1:]
		}
		mu.Unlock()
		go func() {
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				open = slices.DeleteFunc(open, func(other net.Conn) bool { return other == c })
			}()
			if err := s.handle(c, log); err != nil {
				log.Printf("remote: signals: %s: %v", c.RemoteAddr(), err)
			}
		}()
	}
}

func (s *signals) handle(c net.Conn, log *log.Logger) error {
	defer c.Close()
	c.SetDeadline(time.Now().Add(requestTime))
	text, err := io.ReadAll(io.LimitReader(c, maxRequest))
	if err != nil || len(text) == 0 { // the server only looks whether the port is open
		return err
	}
	var request struct {
		Signal   *int            `json:"signum"`
		Shutdown json.RawMessage `json:"shutdown"`
	}
	if err := json.Unmarshal(text, &request); err != nil {
		return fmt.Errorf("request of %d bytes: %w", len(text), err)
	}
	if request.Signal != nil && *request.Signal != 0 { // 0 asks whether the kernel lives
		log.Printf("remote: signal %d", *request.Signal)
		if err := send(*request.Signal); err != nil {
			return err
		}
	}
	switch string(request.Shutdown) {
	case "", "0", "false", "null":
		return nil
	}
	// The kernel gets a shutdown_request next to this one.
	log.Printf("remote: the server has ended the kernel; no more signals")
	return s.Close()
}

// send sends a signal to this process, as the server would to a local kernel.
func send(n int) error {
	switch sig := syscall.Signal(n); sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL:
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		return self.Signal(sig)
	}
	return fmt.Errorf("signal %d, want 0, %d, %d or %d", n, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL)
}
