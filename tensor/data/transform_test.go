package data_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

func TestRandomCrop(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Float32, tensor.BFloat16} {
		for _, c := range []struct{ h, w, size, padding int }{{5, 7, 4, 0}, {4, 4, 4, 2}, {3, 6, 5, 1}, {2, 2, 2, 0}, {1, 1, 3, 3}} {
			x := tensor.Arange(1, float64(2*c.h*c.w)+1).Reshape(2, c.h, c.w).To(d)
			for seed := range int64(20) {
				got := data.RandomCrop(c.size, c.padding)(x, tensor.NewGenerator(seed))
				g, top, left := tensor.NewGenerator(seed), 0, 0
				if tall, wide := c.h+2*c.padding, c.w+2*c.padding; tall > c.size || wide > c.size {
					top, left = g.Randint(0, tall-c.size+1).Ints()[0], g.Randint(0, wide-c.size+1).Ints()[0]
				}
				if !slices.Equal(got.Shape(), []int{2, c.size, c.size}) || got.DType() != d {
					t.Fatalf("%+v: got %v of shape %v", c, got.DType(), got.Shape())
				}
				for channel := range 2 {
					for i := range c.size {
						for j := range c.size {
							y, z, want := i+top-c.padding, j+left-c.padding, 0.0
							if y >= 0 && y < c.h && z >= 0 && z < c.w {
								want = x.At(channel, y, z)
							}
							if got := got.At(channel, i, j); got != want {
								t.Fatalf("%v %+v, seed %d: element (%d, %d, %d): got %v, want %v", d, c, seed, channel, i, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}

func TestRandomHorizontalFlip(t *testing.T) {
	x := tensor.Arange(0, 12).Reshape(2, 2, 3).To(tensor.Float64)
	flipped := []float64{2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9}
	for seed := range int64(10) {
		want := x.Float64s()
		if tensor.NewGenerator(seed).Rand(1).Item() < 0.4 {
			want = flipped
		}
		if got := data.RandomHorizontalFlip(0.4)(x, tensor.NewGenerator(seed)).Float64s(); !slices.Equal(got, want) {
			t.Errorf("seed %d: got %v, want %v", seed, got, want)
		}
	}
	for p, want := range map[float64][]float64{0: x.Float64s(), 1: flipped} {
		if got := data.RandomHorizontalFlip(p)(x, tensor.NewGenerator(1)).Float64s(); !slices.Equal(got, want) {
			t.Errorf("probability %v: got %v, want %v", p, got, want)
		}
	}
}

func TestNormalize(t *testing.T) {
	x := tensor.NewAs(tensor.Uint8, []float64{0, 51, 102, 255}, 2, 1, 2)
	y := data.Normalize([]float64{0.5, 0.25}, []float64{0.5, 2})(data.ToFloat()(x, nil), nil)
	for i, want := range []float32{(0 - 0.5) / 0.5, (float32(51)/255 - 0.5) / 0.5, (float32(102)/255 - 0.25) / 2, (1 - 0.25) / 2} {
		if got := y.Float32s()[i]; got != want {
			t.Errorf("element %d: got %v, want %v", i, got, want)
		}
	}
}

// TestTransforms checks that augmented batches do not depend on the number of workers, differ
// between epochs, and are the same for the same seed.
func TestTransforms(t *testing.T) {
	images := tensor.Arange(0, 10*3*8*8).Reshape(10, 3, 8, 8)
	run := func(workers int) (out [][]float64) {
		l := data.NewLoader(data.NewTensorDataset(images, tensor.Arange(0, 10)), 4, data.Shuffle(2), data.Workers(workers),
			data.WithTransforms(data.RandomCrop(8, 2), data.RandomHorizontalFlip(0.5)))
		for range 2 {
			var epoch []float64
			for _, b := range l.Batches() {
				epoch = append(epoch, b.Input.Float64s()...)
			}
			out = append(out, epoch)
		}
		return out
	}
	want := run(0)
	if slices.Equal(want[0], want[1]) {
		t.Error("two epochs are equal, want different ones")
	}
	for workers := range 4 {
		if got := run(workers); !same(got, want) {
			t.Errorf("%d workers give different batches", workers)
		}
	}
}

func TestTransformErrors(t *testing.T) {
	for want, f := range map[string]func(){
		"size 0, padding 1; want":                func() { data.RandomCrop(0, 1) },
		"shape (1, 2, 2): the image padded by 0": func() { data.RandomCrop(3, 0)(tensor.Zeros(1, 2, 2), tensor.NewGenerator(1)) },
		"shape (4,): want an image":              func() { data.RandomCrop(1, 0)(tensor.Zeros(4), tensor.NewGenerator(1)) },
		"p is 2; want":                           func() { data.RandomHorizontalFlip(2) },
		"means (1,) and deviations (0,); want":   func() { data.Normalize([]float64{1}, []float64{0}) },
		"means (1, 2) and deviations (1,); want": func() { data.Normalize([]float64{1, 2}, []float64{1}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
