package tensor

import "fmt"

// constantPad extends or crops the last dimensions.
type constantPad struct {
	window // only lo and hi are used
	value  float64
}

func (constantPad) Info() Info {
	return info("constant_pad_nd", "torch.nn.functional.pad", SavesNothing)
}
func (constantPad) moves() bool { return true }
func (c constantPad) Forward(in []*Tensor) *Tensor {
	if y := c.pad(in[0], c.value); y != in[0] {
		return y
	}
	return duplicate(in[0])
}
func (c constantPad) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(constantPad{c.shrunk(), 0}, dy)}
}

// The other padding modes take elements from the operand.
type (
	reflectionPad  struct{ resample }
	replicationPad struct{ resample }
	circularPad    struct{ resample }
)

func (p reflectionPad) Info() Info {
	return info("reflection_pad"+nd(len(p.lines)), "torch.nn.functional.pad", SavesNothing)
}
func (p replicationPad) Info() Info {
	return info("replication_pad"+nd(len(p.lines)), "torch.nn.functional.pad", SavesNothing)
}
func (circularPad) Info() Info {
	return info("_pad_circular", "torch.nn.functional.pad", SavesNothing)
}

func (p reflectionPad) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor  { return adjoint(p, dy) }
func (p replicationPad) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return adjoint(p, dy) }
func (p circularPad) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor    { return adjoint(p, dy) }

// PadOptions are the options of Pad.
type PadOptions struct {
	Mode  string  // "constant", "reflect", "replicate" or "circular"; "" is "constant"
	Value float64 // value of the elements added in mode "constant"
}

// Pad returns t with elements added before and after its last dimensions. pad holds the counts
// before and after the last dimension, then those of the dimension before it, and so on;
// negative counts remove elements. Modes other than "constant" pad up to three dimensions and
// take elements from t: "reflect" mirrors t without repeating its border, "replicate" repeats
// the border, "circular" continues from the other end. It is torch.nn.functional.pad.
func (t *Tensor) Pad(pad []int, o PadOptions) *Tensor {
	t.given("pad")
	n := len(pad) / 2
	if len(pad)%2 != 0 || n > len(t.shape) {
		fail("pad", []*Tensor{t}, "pad is %v; want two numbers for each of at most %d dimensions", pad, len(t.shape))
	}
	w := window{lo: make([]int, n), hi: make([]int, n), kernel: make([]int, n)}
	lead := len(t.shape) - n
	for i := range n {
		w.lo[n-1-i], w.hi[n-1-i] = pad[2*i], pad[2*i+1]
	}
	for i := range n {
		if s := t.shape[lead+i]; s+w.lo[i]+w.hi[i] < 0 || s+min(w.lo[i], 0)+min(w.hi[i], 0) < 0 {
			fail("pad", []*Tensor{t}, "padding (%d, %d) removes more than the %d elements of dimension %d", w.lo[i], w.hi[i], s, lead+i)
		}
	}
	if o.Mode == "" || o.Mode == "constant" {
		if t.dtype.IsStorage() {
			o.Value = FullAs(t.dtype, o.Value).as(Uint8).Item() // the byte of the value, see forwardStored
		}
		return apply(constantPad{w, o.Value}, t)
	}
	if n < 1 || n > 3 || lead < 1 {
		fail("pad", []*Tensor{t}, "pad is %v in mode %q; want padding of 1 to 3 dimensions, not of the first", pad, o.Mode)
	}
	var r resample
	for i := range n {
		r.lines = append(r.lines, sourceLine(o.Mode, t, lead+i, w.lo[i], w.hi[i]))
	}
	switch o.Mode {
	case "reflect":
		return apply(reflectionPad{r}, t)
	case "replicate":
		return apply(replicationPad{r}, t)
	}
	return apply(circularPad{r}, t)
}

// sourceLine returns the source positions of the elements of padded dimension d.
func sourceLine(mode string, t *Tensor, d, lo, hi int) line {
	n := t.shape[d]
	most := n
	from := func(i int) int { return (i%n + n) % n }
	switch mode {
	case "reflect":
		most = n - 1
		from = func(i int) int {
			if i = max(i, -i); i >= n {
				i = 2*(n-1) - i
			}
			return i
		}
	case "replicate":
		most = max(lo, hi)
		from = func(i int) int { return min(max(i, 0), n-1) }
	case "circular":
	default:
		panic(named(&Error{Op: "pad", Why: fmt.Sprintf("unknown mode %q; want constant, reflect, replicate or circular", mode)}))
	}
	if n == 0 || max(lo, hi) > most {
		fail("pad", []*Tensor{t}, "padding is (%d, %d) in mode %s, dimension %d; want at most %d", lo, hi, mode, d, most)
	}
	l := line{size: n, index: [][]int{hostSlice[int]("pad", n+lo+hi)}}
	for i := range l.index[0] {
		l.index[0][i] = from(i - lo)
	}
	return l
}
