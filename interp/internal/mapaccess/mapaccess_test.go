package mapaccess

import (
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestConflicts checks which uses of one map conflict.
func TestConflicts(t *testing.T) {
	m := reflect.ValueOf(map[int]int{})
	for _, c := range []struct {
		first, second Use
		want          error
	}{
		{Read, Read, nil},
		{Read, Iterate, nil},
		{Iterate, Read, nil},
		{Read, Write, reads},
		{Write, Read, reads},
		{Write, Iterate, iterating},
		{Write, Write, writes},
	} {
		a, err := Begin(m, c.first)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		b, err := Begin(m, c.second)
		if err != c.want {
			t.Errorf("use %d during use %d: got %v, want %v", c.second, c.first, err, c.want)
		}
		b.End()
		a.End()
		if w := slotOf(m.Pointer()).Load(); w != 0 {
			t.Errorf("use %d during use %d: the slot is %x at the end, want 0", c.second, c.first, w)
		}
	}
}

// collide returns two maps that share a slot.
func collide() (a, b reflect.Value) {
	seen := map[*slot]reflect.Value{}
	for {
		m := reflect.ValueOf(map[int]int{})
		if other, ok := seen[slotOf(m.Pointer())]; ok {
			return other, m
		}
		seen[slotOf(m.Pointer())] = m
	}
}

// TestMapsOfOneSlotTakeTurns checks that an access waits while another map of the same slot
// is in use.
func TestMapsOfOneSlotTakeTurns(t *testing.T) {
	m, other := collide()
	a, err := Begin(m, Write)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		b, err := Begin(other, Write)
		b.End()
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("the access to the other map did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	a.End()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBeginAll checks one access that writes several maps.
func TestBeginAll(t *testing.T) {
	m, same := collide()
	third := reflect.ValueOf(map[int]int{})
	end, err := BeginAll([]reflect.Value{m, third, same, m, reflect.ValueOf(map[int]int(nil))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(third, Read); err != reads {
		t.Errorf("reading one of the maps: got %v, want %v", err, reads)
	}
	end()
	a, err := Begin(third, Read)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := BeginAll([]reflect.Value{m, third}); err != reads {
		t.Errorf("writing a map that is being read: got %v, want %v", err, reads)
	}
	a.End()
	for i := range slots {
		if w := slots[i].Load(); w != 0 {
			t.Errorf("slot %d is %x at the end, want 0", i, w)
		}
	}
}

// TestAnnouncedAccessesExclude checks that goroutines may use the same maps if they announce
// each access. Go would end the process if two of them met.
func TestAnnouncedAccessesExclude(t *testing.T) {
	maps := []map[int]int{{}, {}, {}}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20000 {
				m := maps[(i+g)%len(maps)]
				v := reflect.ValueOf(m)
				switch {
				case i%7 == 0:
					if end, err := BeginAll([]reflect.Value{v, reflect.ValueOf(maps[0])}); err == nil {
						m[i%50], maps[0][i] = i, i
						end()
					}
				case i%2 == 0:
					if a, err := Begin(v, Write); err == nil {
						m[i%50]++
						a.End()
					}
				default:
					if a, err := Begin(v, Read); err == nil {
						_ = m[i%50]
						a.End()
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestCopyWhileWriting checks that Copy copies a map while a goroutine writes to it.
func TestCopyWhileWriting(t *testing.T) {
	m := map[float64]int{math.NaN(): 1, math.Inf(1): 2}
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			a, err := Begin(reflect.ValueOf(m), Write)
			if err != nil {
				t.Errorf("writing a map that is being copied: %v", err)
				return
			}
			m[float64(i%100)] = i
			a.End()
		}
	})
	for range 1000 {
		if c := Copy(m).(map[float64]int); len(c) < 2 || c[math.Inf(1)] != 2 {
			t.Fatalf("got %v, want a copy of the map", c)
		}
	}
	stop.Store(true)
	wg.Wait()
	if got := Copy(len(m)); got != len(m) {
		t.Errorf("a number: got %v, want %v", got, len(m))
	}
	var none map[string]int
	if got := Copy(none).(map[string]int); got != nil {
		t.Errorf("a nil map: got %v, want nil", got)
	}
}
