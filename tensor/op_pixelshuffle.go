package tensor

import "slices"

// pixelShuffle moves channels into planes.
type pixelShuffle struct{ by int }

func (pixelShuffle) Info() Info {
	return info("pixel_shuffle", "torch.nn.functional.pixel_shuffle", SavesNothing)
}
func (p pixelShuffle) Forward(in []*Tensor) *Tensor {
	x := in[0]
	lead, c, h, w := planes(x)
	y := duplicate(shuffled(x, append(slices.Clone(lead), c/(p.by*p.by), p.by, p.by, h, w), 0, 3, 1, 4, 2))
	return shaped(y, append(slices.Clone(lead), c/(p.by*p.by), h*p.by, w*p.by))
}
func (p pixelShuffle) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(pixelUnshuffle(p), dy)}
}

// pixelUnshuffle is the inverse of pixelShuffle.
type pixelUnshuffle pixelShuffle

func (pixelUnshuffle) Info() Info {
	return info("pixel_unshuffle", "torch.nn.functional.pixel_unshuffle", SavesNothing)
}
func (p pixelUnshuffle) Forward(in []*Tensor) *Tensor {
	x := in[0]
	lead, c, h, w := planes(x)
	y := duplicate(shuffled(x, append(slices.Clone(lead), c, h/p.by, p.by, w/p.by, p.by), 0, 2, 4, 1, 3))
	return shaped(y, append(slices.Clone(lead), c*p.by*p.by, h/p.by, w/p.by))
}
func (p pixelUnshuffle) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(pixelShuffle(p), dy)}
}

// channelShuffle turns (groups, c/groups) channels into (c/groups, groups).
type channelShuffle struct{ groups int }

func (channelShuffle) Info() Info {
	return info("channel_shuffle", "torch.nn.functional.channel_shuffle", SavesNothing)
}
func (c channelShuffle) Forward(in []*Tensor) *Tensor {
	x := in[0]
	n := x.shape[1]
	y := shuffled(x, append([]int{x.shape[0], c.groups, n / c.groups}, x.shape[2:]...), append([]int{0, 2, 1}, seq(len(x.shape) + 1)[3:]...)...)
	return shaped(duplicate(y), x.shape)
}
func (c channelShuffle) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(channelShuffle{dy.shape[1] / c.groups}, dy)}
}

// planes returns x's sizes (lead…, c, h, w).
func planes(x *Tensor) (lead []int, c, h, w int) {
	n := len(x.shape)
	return x.shape[:n-3], x.shape[n-3], x.shape[n-2], x.shape[n-1]
}

// shuffled returns x reshaped, with its last dimensions permuted.
func shuffled(x *Tensor, shape []int, order ...int) *Tensor {
	lead := len(shape) - len(order)
	full := seq(len(shape))
	for i, d := range order {
		full[lead+i] = lead + d
	}
	return permuted(shaped(compact(x), shape), full)
}

// PixelShuffle returns t (…, c r², h, w) as (…, c, h r, w r), where r is upscaleFactor: r²
// neighbouring channels become a square of pixels. It is torch.nn.functional.pixel_shuffle.
func (t *Tensor) PixelShuffle(upscaleFactor int) *Tensor {
	t.given("pixel_shuffle")
	if len(t.shape) < 3 || upscaleFactor < 1 || upscaleFactor > max(t.shape[len(t.shape)-3], 1) || t.shape[len(t.shape)-3]%(upscaleFactor*upscaleFactor) != 0 {
		fail("pixel_shuffle", []*Tensor{t}, "factor is %d; want (…, c, h, w) with c a multiple of its square", upscaleFactor)
	}
	return apply(pixelShuffle{upscaleFactor}, t)
}

// PixelUnshuffle is the inverse of PixelShuffle. It is
// torch.nn.functional.pixel_unshuffle.
func (t *Tensor) PixelUnshuffle(downscaleFactor int) *Tensor {
	t.given("pixel_unshuffle")
	if n := len(t.shape); n < 3 || downscaleFactor < 1 || t.shape[n-2]%downscaleFactor != 0 || t.shape[n-1]%downscaleFactor != 0 {
		fail("pixel_unshuffle", []*Tensor{t}, "factor is %d; want (…, c, h, w) with h and w multiples of it", downscaleFactor)
	}
	return apply(pixelUnshuffle{downscaleFactor}, t)
}

// ChannelShuffle returns t (n, c, …) with one channel of each group in turn.
// It is torch.nn.functional.channel_shuffle.
func (t *Tensor) ChannelShuffle(groups int) *Tensor {
	t.given("channel_shuffle")
	if len(t.shape) < 3 || groups < 1 || t.shape[1]%groups != 0 {
		fail("channel_shuffle", []*Tensor{t}, "groups is %d; want (n, c, …) with c a multiple of it", groups)
	}
	return apply(channelShuffle{groups}, t)
}
