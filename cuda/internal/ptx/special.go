package ptx

import "strings"

// specialRegisters holds the registers that are filled when a block starts.
var specialRegisters = map[string]func(w *warp, lane uint32) uint64{
	"%laneid":      func(_ *warp, lane uint32) uint64 { return uint64(lane) },
	"%warpid":      func(w *warp, _ uint32) uint64 { return uint64(w.number) },
	"%nwarpid":     func(*warp, uint32) uint64 { return 64 },
	"%smid":        func(w *warp, _ uint32) uint64 { return uint64(w.block.index[0] % 132) },
	"%nsmid":       func(*warp, uint32) uint64 { return 132 },
	"%gridid":      func(*warp, uint32) uint64 { return 1 },
	"%lanemask_eq": func(_ *warp, lane uint32) uint64 { return 1 << lane },
	"%lanemask_lt": func(_ *warp, lane uint32) uint64 { return 1<<lane - 1 },
	"%lanemask_le": func(_ *warp, lane uint32) uint64 { return 2<<lane - 1 },
	"%lanemask_gt": func(_ *warp, lane uint32) uint64 { return cut(^uint64(0)<<lane<<1, 32) },
	"%lanemask_ge": func(_ *warp, lane uint32) uint64 { return cut(^uint64(0)<<lane, 32) },

	"%dynamic_smem_size": func(w *warp, _ uint32) uint64 { return uint64(w.block.Shared) },
	"%total_smem_size":   func(w *warp, _ uint32) uint64 { return uint64(len(w.block.shared)) },
}

// dynamic holds the registers that change while a thread runs. Time is counted in instructions.
var dynamic = map[string]func(w *warp) uint64{
	"%clock":          func(w *warp) uint64 { return uint64(w.steps) },
	"%clock64":        func(w *warp) uint64 { return uint64(w.steps) },
	"%clock_hi":       func(w *warp) uint64 { return uint64(w.steps) >> 32 },
	"%globaltimer":    func(w *warp) uint64 { return uint64(w.steps) },
	"%globaltimer_lo": func(w *warp) uint64 { return uint64(w.steps) },
}

// special returns the register that holds the value of a special register.
func (in *instr) special(name string) int {
	if r, ok := in.specials[name]; ok {
		return r
	}
	fill := specialRegisters[name]
	if base, axis, ok := strings.Cut(name, "."); ok && len(axis) == 1 {
		if i := strings.Index("xyz", axis); i >= 0 {
			fill = placeOf(base, i)
		}
	}
	if name == "WARP_SZ" {
		fill = func(*warp, uint32) uint64 { return 32 }
	}
	if fill == nil {
		in.refuse("register %s is not declared", name)
	}
	r := in.scratch()
	in.specials[name] = r
	in.k.specials = append(in.k.specials, special{r, fill})
	return r
}

// placeOf returns the function that fills %tid, %ntid, %ctaid or %nctaid for axis i.
func placeOf(name string, i int) func(w *warp, lane uint32) uint64 {
	switch name {
	case "%tid":
		return func(w *warp, lane uint32) uint64 {
			t := uint32(w.number)*32 + lane
			size := w.block.Block
			return uint64([3]uint32{t % size[0], t / size[0] % size[1], t / size[0] / size[1]}[i])
		}
	case "%ntid":
		return func(w *warp, _ uint32) uint64 { return uint64(w.block.Block[i]) }
	case "%ctaid":
		return func(w *warp, _ uint32) uint64 { return uint64(w.block.index[i]) }
	case "%nctaid":
		return func(w *warp, _ uint32) uint64 { return uint64(w.block.Grid[i]) }
	}
	return nil
}
