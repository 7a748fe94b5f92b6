package install

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// patience is the time between two lines about a start that takes long.
const patience = 10 * time.Second

// remind prints what is going on each time that an interval has passed, until the returned function is called.
func remind(w io.Writer, interval time.Duration, stage func() string) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				fmt.Fprintf(w, "%s (%.0f s)\n", stage(), time.Since(begun).Seconds())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(end)
		<-ended
	})
}
