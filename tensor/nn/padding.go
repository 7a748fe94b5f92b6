package nn

import (
	"fmt"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// pad returns a module that pads the last dims dimensions.
func pad(name string, dims int, list []int, o tensor.PadOptions) *Func {
	if len(list) == 1 {
		list = perDimension(list, 2*dims, 0)
	}
	if len(list) != 2*dims {
		panic(&tensor.Error{Op: "new_" + snake(name), Why: text.Sprintf("padding %v; want 1 or %d values", list, 2*dims)})
	}
	text := fmt.Sprintf("%s(%s)", name, tuple(list))
	if strings.HasPrefix(name, "Constant") {
		text = fmt.Sprintf("%s(padding=%s, value=%v)", name, tuple(list), o.Value)
	}
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor { return x.Pad(list, o) }}
}

// NewConstantPad1d returns a module that pads the last dimension with value: padding is one
// number for both sides, or one each. It is torch.nn.ConstantPad1d.
func NewConstantPad1d(value float64, padding ...int) *Func {
	return pad("ConstantPad1d", 1, padding, tensor.PadOptions{Value: value})
}

// NewConstantPad2d is NewConstantPad1d for the last two dimensions, last dimension first. It
// is torch.nn.ConstantPad2d.
func NewConstantPad2d(value float64, padding ...int) *Func {
	return pad("ConstantPad2d", 2, padding, tensor.PadOptions{Value: value})
}

// NewConstantPad3d is NewConstantPad2d for the last three dimensions. It is
// torch.nn.ConstantPad3d.
func NewConstantPad3d(value float64, padding ...int) *Func {
	return pad("ConstantPad3d", 3, padding, tensor.PadOptions{Value: value})
}

// NewZeroPad1d returns a module that pads the last dimension with zeros: padding is one number
// for both sides, or one each. It is torch.nn.ZeroPad1d.
func NewZeroPad1d(padding ...int) *Func { return pad("ZeroPad1d", 1, padding, tensor.PadOptions{}) }

// NewZeroPad2d is NewZeroPad1d for the last two dimensions, last dimension first. It is
// torch.nn.ZeroPad2d.
func NewZeroPad2d(padding ...int) *Func { return pad("ZeroPad2d", 2, padding, tensor.PadOptions{}) }

// NewZeroPad3d is NewZeroPad2d for the last three dimensions. It is torch.nn.ZeroPad3d.
func NewZeroPad3d(padding ...int) *Func { return pad("ZeroPad3d", 3, padding, tensor.PadOptions{}) }

// NewReflectionPad1d returns a module that mirrors the last dimension at its ends: padding is
// one number for both sides, or one each. It is torch.nn.ReflectionPad1d.
func NewReflectionPad1d(padding ...int) *Func {
	return pad("ReflectionPad1d", 1, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReflectionPad2d is NewReflectionPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReflectionPad2d.
func NewReflectionPad2d(padding ...int) *Func {
	return pad("ReflectionPad2d", 2, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReflectionPad3d is NewReflectionPad2d for the last three dimensions. It is
// torch.nn.ReflectionPad3d.
func NewReflectionPad3d(padding ...int) *Func {
	return pad("ReflectionPad3d", 3, padding, tensor.PadOptions{Mode: "reflect"})
}

// NewReplicationPad1d returns a module that repeats the last dimension's ends: padding is one
// number for both sides, or one each. It is torch.nn.ReplicationPad1d.
func NewReplicationPad1d(padding ...int) *Func {
	return pad("ReplicationPad1d", 1, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewReplicationPad2d is NewReplicationPad1d for the last two dimensions, last dimension first.
// It is torch.nn.ReplicationPad2d.
func NewReplicationPad2d(padding ...int) *Func {
	return pad("ReplicationPad2d", 2, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewReplicationPad3d is NewReplicationPad2d for the last three dimensions. It is
// torch.nn.ReplicationPad3d.
func NewReplicationPad3d(padding ...int) *Func {
	return pad("ReplicationPad3d", 3, padding, tensor.PadOptions{Mode: "replicate"})
}

// NewCircularPad1d returns a module that wraps the last dimension around: padding is one number
// for both sides, or one each. It is torch.nn.CircularPad1d.
func NewCircularPad1d(padding ...int) *Func {
	return pad("CircularPad1d", 1, padding, tensor.PadOptions{Mode: "circular"})
}

// NewCircularPad2d is NewCircularPad1d for the last two dimensions, last dimension first. It
// is torch.nn.CircularPad2d.
func NewCircularPad2d(padding ...int) *Func {
	return pad("CircularPad2d", 2, padding, tensor.PadOptions{Mode: "circular"})
}

// NewCircularPad3d is NewCircularPad2d for the last three dimensions. It is
// torch.nn.CircularPad3d.
func NewCircularPad3d(padding ...int) *Func {
	return pad("CircularPad3d", 3, padding, tensor.PadOptions{Mode: "circular"})
}
