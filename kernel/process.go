package kernel

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// watchProcess ties the kernel to its process: SIGINT interrupts, SIGTERM and the
// parent's death end it. The function returned unties them.
func (k *kernel) watchProcess() (untie func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt {
					k.interrupt()
				} else {
					k.stop()
				}
			case <-done:
				return
			}
		}
	}()
	if id := os.Getenv("JPY_PARENT_PID"); id != "" {
		go k.watchParent(id, done)
	}
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// watchParent stops the kernel when the process that started it has ended.
func (k *kernel) watchParent(id string, done <-chan struct{}) {
	ended := parentEnded(id)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if ended() {
				k.log.Printf("the parent process has ended")
				k.stop()
				return
			}
		case <-done:
			return
		}
	}
}
