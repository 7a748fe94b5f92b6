package front

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestLayers compares copies of layers with copies of plain maps, and checks that there are few layers.
func TestLayers(t *testing.T) {
	type pair struct {
		l    layers[int, int]
		want map[int]*int
	}
	r := rand.New(rand.NewPCG(1, 2))
	list := []*pair{{want: map[int]*int{}}}
	for range 3000 {
		p := list[r.IntN(len(list))]
		if r.IntN(4) == 0 {
			list = append(list, &pair{p.l.clone(), maps.Clone(p.want)})
			if len(list) > 20 {
				list = list[1:]
			}
		}
		switch key := r.IntN(200); r.IntN(3) {
		case 0:
			p.l.set(key, nil)
			delete(p.want, key)
		default:
			v := new(int)
			p.l.set(key, v)
			p.want[key] = v
		}
	}
	for _, p := range list {
		for key := range 200 {
			if got := p.l.get(key); got != p.want[key] {
				t.Errorf("key %d: got %p, want %p", key, got, p.want[key])
			}
		}
		if got := maps.Collect(p.l.all()); !maps.Equal(got, p.want) {
			t.Errorf("got %d keys, want %d", len(got), len(p.want))
		}
	}

	var l layers[int, int]
	for i := range 10000 {
		l.set(i, new(int))
		l = l.clone()
	}
	if n := len(l.shared); n > 14 {
		t.Errorf("got %d layers of 10000 keys, want at most 14", n)
	}
}
