package live

import (
	"sync"
	"testing"
	"time"
)

// TestSpaced checks that a goroutine that polls all the time is seldom due, and that one that polls seldom is due each time
// next to it.
func TestSpaced(t *testing.T) {
	var s spaced
	const polls = 200_000
	start, due := time.Now(), 0
	for range polls {
		if s.due() {
			due++
		}
	}
	if most := 1 + int(time.Since(start)/pollEvery); due < 1 || due > most {
		t.Errorf("%d polls in %v: due %d times, want 1 to %d", polls, time.Since(start), due, most)
	}

	stop := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.due()
			}
		}
	})
	// Goroutines that share an entry delay each other. All of these sharing the busy one's would be a mistake.
	const goroutines, times = 4, 20
	var seldom sync.WaitGroup
	missed := make([]int, goroutines)
	for i := range goroutines {
		seldom.Go(func() {
			for range times {
				time.Sleep(2 * pollEvery)
				if !s.due() {
					missed[i]++
				}
			}
		})
	}
	seldom.Wait()
	close(stop)
	busy.Wait()
	never := 0
	for _, n := range missed {
		if n == 0 {
			never++
		}
	}
	if never < goroutines/2 {
		t.Errorf("%d goroutines that poll seldom were not due %d times of %d", goroutines, missed, times)
	}
}
