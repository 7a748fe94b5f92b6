package kernel

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// watchProcess ties the kernel to its process: SIGINT interrupts the cell; SIGTERM and
// the parent's death end the kernel. The returned function unties them, and terminates
// processes that a kernel started by Jupyter leaves behind.
func (k *kernel) watchProcess() (untie func()) {
	signals := make(chan os.Signal, 8)
	// The reader of the log may have died with the parent. The default SIGPIPE would
	// then end the process before it has cleaned up.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				switch s {
				case os.Interrupt:
					if at := k.signalled.Swap(0); time.Since(time.Unix(0, at)) > time.Second {
						k.interrupt()
					}
				case syscall.SIGTERM:
					k.stop()
				}
			case <-done:
				return
			}
		}
	}()
	id := os.Getenv("JPY_PARENT_PID")
	if id != "" {
		go k.watchParent(id, done)
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
func (k *kernel) interruptChildren() {
	k.signalled.Store(time.Now().UnixNano())
	if !interruptGroup() {
		k.signalled.Store(0)
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
