//go:build ignore

package iter

// Pull runs seq in a goroutine, which waits between requests for a value.
func Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	next2, stop := Pull2(func(yield func(V, bool) bool) {
		seq(func(v V) bool { return yield(v, true) })
	})
	return func() (V, bool) {
		v, ok, _ := next2()
		return v, ok
	}, stop
}

// turn is one exchange with the goroutine of Pull2.
type turn[K, V any] struct {
	k        K
	v        V
	ok       bool
	panicked bool
	value    any
}

// Pull2 runs seq in a goroutine, which waits between requests for a value.
func Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var started, done, busy bool
	ask := make(chan bool) // true for a value, false to stop
	answer := make(chan turn[K, V])
	run := func() {
		var last turn[K, V]
		normal := false
		defer func() {
			if !normal {
				last.value = recover()
				last.panicked = true
			}
			answer <- last
		}()
		if <-ask {
			stopped := false
			seq(func(k K, v V) bool {
				if stopped {
					panic("iter: yield called after it returned false")
				}
				answer <- turn[K, V]{k: k, v: v, ok: true}
				stopped = !<-ask
				return !stopped
			})
		}
		normal = true
	}
	exchange := func(more bool) (t turn[K, V]) {
		if busy {
			panic("iter.Pull: next or stop called again before it returned")
		}
		busy = true
		defer func() { busy = false }()
		if !started {
			started = true
			go run()
		}
		ask <- more
		t = <-answer
		done = !t.ok
		if t.panicked {
			panic(t.value)
		}
		return t
	}
	next = func() (K, V, bool) {
		if done {
			var k K
			var v V
			return k, v, false
		}
		t := exchange(true)
		return t.k, t.v, t.ok
	}
	stop = func() {
		if done {
			return
		}
		done = true
		if started {
			exchange(false)
		}
	}
	return next, stop
}
