package ptx

import "math/bits"

// Instructions that the threads of a warp execute together.

// together makes an instruction wait for all threads of a mask.
func (in *instr) together(mask arg) {
	in.out.kind, in.out.member = opSync, int32(in.source(mask, types["b32"]))
}

// buildShuffle decodes shfl.sync. The value of a thread that does not participate is undefined; here
// it is all ones.
func buildShuffle(in *instr) run {
	if !in.has("sync") {
		in.refuse("needs .sync")
	}
	mode := in.one("up", "down", "bfly", "idx")
	in.count(5)
	t := types["b32"]
	d, p := in.target(in.args[0], t), -1
	if q := in.args[0].pair; q != nil {
		p = in.target(*q, types["pred"])
	}
	a, b, c := in.source(in.args[1], t), in.source(in.args[2], t), in.source(in.args[3], t)
	in.together(in.args[4])
	return func(w *warp, m uint32) {
		old := w.r[a]
		var set uint32
		for l := m; l != 0; l &= l - 1 {
			lane := bits.TrailingZeros32(l) & 31
			by, clamp, segment := int(w.r[b][lane]&31), int(w.r[c][lane]&31), int(w.r[c][lane]>>8&31)
			most, least := lane&segment|clamp&^segment, lane&segment
			j, ok := 0, false
			switch mode {
			case "up":
				j = lane - by
				ok = j >= most
			case "down":
				j = lane + by
				ok = j <= most
			case "bfly":
				j = lane ^ by
				ok = j <= most
			case "idx":
				j = least | by&^segment
				ok = j <= most
			}
			if !ok {
				j = lane
			} else {
				set |= 1 << lane
			}
			w.r[d][lane] = all
			if m>>j&1 != 0 {
				w.r[d][lane] = cut(old[j], 32)
			}
		}
		if p >= 0 {
			w.setMask(p, set, m)
		}
	}
}

// buildVote decodes vote.sync.
func buildVote(in *instr) run {
	mode := in.one("ballot", "all", "any", "uni")
	if !in.has("sync") {
		in.refuse("needs .sync")
	}
	in.count(3)
	in.together(in.args[2])
	p := in.mask(in.args[1])
	if mode == "ballot" {
		d := in.target(in.args[0], types["b32"])
		return func(w *warp, m uint32) {
			x := uint64(p(w) & m)
			for l := m; l != 0; l &= l - 1 {
				w.r[d][bits.TrailingZeros32(l)&31] = x
			}
		}
	}
	d := in.target(in.args[0], types["pred"])
	return func(w *warp, m uint32) {
		x := p(w) & m
		if mode == "any" && x != 0 || mode != "any" && x == m || mode == "uni" && x == 0 {
			w.setMask(d, all, m)
		} else {
			w.setMask(d, 0, m)
		}
	}
}

// buildMatch decodes match.sync.
func buildMatch(in *instr) run {
	mode := in.one("any", "all")
	if !in.has("sync") || mode == "" {
		in.refuse("needs .any or .all and .sync")
	}
	t := in.typ(-1)
	in.count(3)
	d, p := in.target(in.args[0], types["b32"]), -1
	if q := in.args[0].pair; q != nil {
		p = in.target(*q, types["pred"])
	}
	a := in.source(in.args[1], t)
	in.together(in.args[2])
	return func(w *warp, m uint32) {
		values := w.r[a]
		for l := m; l != 0; l &= l - 1 {
			lane := bits.TrailingZeros32(l) & 31
			var same uint32
			for k := m; k != 0; k &= k - 1 {
				if i := bits.TrailingZeros32(k) & 31; values[i] == values[lane] {
					same |= 1 << i
				}
			}
			if mode == "all" && same != m {
				same = 0
			}
			if p >= 0 {
				w.setMask(p, -(same & 1 << lane >> lane), 1<<lane)
			}
			w.r[d][lane] = uint64(same)
		}
	}
}

// buildActive decodes activemask.
func buildActive(in *instr) run {
	in.count(1)
	d := in.target(in.args[0], types["b32"])
	return func(w *warp, m uint32) {
		for l := m; l != 0; l &= l - 1 {
			w.r[d][bits.TrailingZeros32(l)&31] = uint64(m)
		}
	}
}

// buildRedux decodes redux.sync.
func buildRedux(in *instr) run {
	in.need(70, 80)
	if !in.has("sync") {
		in.refuse("needs .sync")
	}
	t := in.typ(-1)
	in.count(3)
	f := in.atomic(t)
	d, a := in.target(in.args[0], t), in.source(in.args[1], t)
	in.together(in.args[2])
	return func(w *warp, m uint32) {
		x := w.r[a][bits.TrailingZeros32(m)&31]
		for l := m & (m - 1); l != 0; l &= l - 1 {
			x = f(x, w.r[a][bits.TrailingZeros32(l)&31], 0)
		}
		for l := m; l != 0; l &= l - 1 {
			w.r[d][bits.TrailingZeros32(l)&31] = x
		}
	}
}

// buildBarrier decodes bar and barrier.
func buildBarrier(in *instr) run {
	in.has("cta")
	in.has("aligned")
	switch in.one("warp", "sync", "arrive", "red") {
	case "warp":
		if !in.has("sync") {
			in.refuse("needs .sync")
		}
		in.count(1)
		in.together(in.args[0])
		return func(w *warp, m uint32) { w.epoch++ }
	case "sync":
		in.out.barrier = in.barrier(in.args)
		return nil
	case "arrive":
		in.count(2)
		in.out.barrier = in.barrier(in.args)
		in.out.barrier.arrive = true
		return nil
	case "red":
		return in.barrierReduction()
	}
	in.refuse("needs .sync, .arrive, .red or .warp.sync")
	return nil
}

func (in *instr) barrier(args []arg) barrierOp {
	in.out.kind = opBarrier
	o := barrierOp{id: -1, count: -1, predicate: -1}
	if len(args) < 1 || len(args) > 2 {
		in.refuse("%d operands, want 1 or 2", len(args))
	}
	o.id = in.source(args[0], types["u32"])
	if len(args) == 2 {
		o.count = in.source(args[1], types["u32"])
	}
	return o
}

func (in *instr) barrierReduction() run {
	kind := in.one("popc", "and", "or")
	n := len(in.args)
	if n < 3 || kind == "" {
		in.refuse("needs .popc, .and or .or and three operands")
	}
	in.out.barrier = in.barrier(in.args[1 : n-1])
	p := in.args[n-1]
	in.out.barrier.predicate, in.out.barrier.negate = in.source(p, types["pred"]), p.negate
	if kind == "popc" {
		d := in.target(in.args[0], in.typ(-1))
		return func(w *warp, m uint32) {
			for l := m; l != 0; l &= l - 1 {
				w.r[d][bits.TrailingZeros32(l)&31] = uint64(w.reduced.pop)
			}
		}
	}
	in.typ(-1)
	d := in.target(in.args[0], types["pred"])
	return func(w *warp, m uint32) {
		if kind == "and" && w.reduced.and || kind == "or" && w.reduced.or {
			w.setMask(d, all, m)
		} else {
			w.setMask(d, 0, m)
		}
	}
}
