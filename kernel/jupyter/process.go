package jupyter

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

const arrival = 100 * time.Millisecond // time for an interrupt to reach the cell, before the processes end that it waits for

// watchProcess ties the kernel to its process: SIGINT interrupts the cell; SIGTERM and
// the parent's death end the kernel. The returned function unties them, and terminates
// processes that a kernel started by Jupyter leaves behind.
func (s *server) watchProcess() (untie func()) {
	signals := make(chan os.Signal, 8)
	// The reader of the log may have died with the parent. The default SIGPIPE would
	// then end the process before it has cleaned up.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-signals:
				switch sig {
				case os.Interrupt:
					if at := s.signalled.Swap(0); time.Since(time.Unix(0, at)) > time.Second {
						s.hooks.Interrupt()
					}
				case syscall.SIGTERM:
					s.stop()
				}
			case <-done:
				return
			}
		}
	}()
	id := os.Getenv("JPY_PARENT_PID")
	if id != "" {
		go s.watchParent(id, done)
	}
	return func() {
		signal.Stop(signals)
		close(done)
		if id != "" {
			endGroup()
		}
	}
}

// interruptChildren sends SIGINT to the processes that cells have started, where they are in the process group of this process. The signal
// reaches this process too, which has been interrupted already.
func (s *server) interruptChildren() {
	time.AfterFunc(arrival, func() {
		s.signalled.Store(time.Now().UnixNano())
		if !interruptGroup() {
			s.signalled.Store(0)
		}
	})
}

// watchParent stops the kernel when the process that started it has ended.
func (s *server) watchParent(id string, done <-chan struct{}) {
	ended := parentEnded(id)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if ended() {
				s.log.Printf("the parent process has ended")
				s.stop()
				return
			}
		case <-done:
			return
		}
	}
}
