package apex

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfnote/amp"
	"halfnote/tensor"
)

// OptLevel is one of Apex's levels O0 to O3 with its properties. It is a value: the methods
// return changed copies, for example apex.O2.LossScale(128), and panic with an *[amp.Error] if the
// level does not support the property.
type OptLevel struct {
	name       string
	modelType  tensor.DType // dtype that the model is converted to, 0 for none
	asGiven    bool         // the model may have any dtypes
	patch      bool         // forward runs under Apex's lists
	batchNorm  option       // keep_batchnorm_fp32
	masters    option       // master_weights
	scale      float64      // static loss scale; 0 is dynamic
	off        bool
	outputType tensor.DType // cast_model_outputs, 0 for the level's default
	policy     amp.Policy
	losses     int
	silent     bool
	minScale   float64 // min_loss_scale, 0 for none
	maxScale   float64
}

// option is a property that is True, False or None.
type option uint8

const (
	none option = iota
	no
	yes
)

func choice(on bool) option {
	if on {
		return yes
	}
	return no
}

func (o option) String() string { return [...]string{"None", "False", "True"}[o] }

// The levels.
var (
	// O0 is float32 training.
	O0 = OptLevel{name: "O0", modelType: tensor.Float32, masters: no, scale: 1, policy: Float16, losses: 1, maxScale: 1 << 24}
	// O1 casts around operations, as [amp.Autocast] with [Float16] does, and scales the loss.
	// It is the recommended level to start with.
	O1 = OptLevel{name: "O1", patch: true, policy: Float16, losses: 1, maxScale: 1 << 24}
	// O2 converts the model to float16 except for its batch norms, keeps master weights in
	// float32, and scales the loss.
	O2 = OptLevel{name: "O2", modelType: tensor.Float16, batchNorm: yes, masters: yes, policy: Float16, losses: 1, maxScale: 1 << 24}
	// O3 converts the whole model to float16 and does nothing else. It is a baseline for speed,
	// not for accuracy.
	O3 = OptLevel{name: "O3", modelType: tensor.Float16, batchNorm: no, masters: no, scale: 1, policy: Float16, losses: 1, maxScale: 1 << 24}
)

// Level returns the level called name: "O0", "O1", "O2" or "O3". It panics with an *[amp.Error] for
// any other name.
func Level(name string) OptLevel {
	for _, l := range []OptLevel{O0, O1, O2, O3} {
		if l.name == name {
			return l
		}
	}
	panic(&amp.Error{Code: "opt_level", Call: "apex.Level", Why: fmt.Sprintf("unknown level %q", name), Cure: `want "O0", "O1", "O2" or "O3", with the letter O, not a zero`})
}

func (l OptLevel) refuse(property, value, cure string) {
	panic(&amp.Error{Code: property, Call: "apex." + l.name, Why: fmt.Sprintf("%s is %s", property, value), Cure: cure})
}

// CastModelType converts the model to d instead of the level's default. O1 accepts only
// float32. It is cast_model_type.
func (l OptLevel) CastModelType(d tensor.DType) OptLevel {
	switch {
	case !d.IsFloat() || d.IsStorage():
		l.refuse("cast_model_type", d.String(), "want a floating-point dtype of at least 16 bits")
	case l.patch && d != tensor.Float32:
		l.refuse("cast_model_type", d.String(), "O1 casts around operations and keeps the weights in float32: use O2 or O3 to convert the model")
	}
	l.modelType, l.asGiven = d, false
	return l
}

// KeepModelType leaves the dtypes of the model, its inputs and its outputs unchanged, even if
// they are mixed. It is cast_model_type=False.
func (l OptLevel) KeepModelType() OptLevel {
	l.modelType, l.asGiven = 0, true
	return l
}

// PatchTorchFunctions sets whether forward runs under Apex's lists: by default only at O1. It
// is patch_torch_functions.
func (l OptLevel) PatchTorchFunctions(on bool) OptLevel {
	if on && l.name != "O1" {
		l.refuse("patch_torch_functions", "True", "only O1 casts around operations: use apex.O1")
	}
	l.patch = on
	return l
}

// KeepBatchNormFP32 sets whether batch norms with weights stay in float32 when the model is
// converted. O1 does not support it. It is keep_batchnorm_fp32.
func (l OptLevel) KeepBatchNormFP32(on bool) OptLevel {
	if l.name == "O1" {
		l.refuse("keep_batchnorm_fp32", choice(on).String(), "omit it, because O1 converts no weights")
	}
	l.batchNorm = choice(on)
	return l
}

// MasterWeights sets whether the optimizer updates float32 copies of float16 parameters. O1
// does not support it. It is master_weights.
func (l OptLevel) MasterWeights(on bool) OptLevel {
	if l.name == "O1" {
		l.refuse("master_weights", choice(on).String(), "omit it, because O1 keeps the weights in float32")
	}
	l.masters = choice(on)
	return l
}

// LossScale sets a static scale. Steps are then never skipped, even if a gradient is infinite.
// It is loss_scale with a number.
func (l OptLevel) LossScale(scale float64) OptLevel {
	if !(scale > 0) || math.IsInf(scale, 0) {
		l.refuse("loss_scale", fmt.Sprint(scale), `want a number above 0, or "dynamic"`)
	}
	l.scale = scale
	return l
}

// DynamicLossScale starts from 65536, halves the scale when a gradient is not finite, and
// doubles it after 2000 good steps in a row. It is loss_scale="dynamic".
func (l OptLevel) DynamicLossScale() OptLevel {
	l.scale = 0
	return l
}

// MinLossScale sets the lower bound of a dynamic scale; the default, 0, means unbounded. It is
// min_loss_scale.
func (l OptLevel) MinLossScale(scale float64) OptLevel {
	l.minScale = scale
	return l
}

// MaxLossScale sets the upper bound of a dynamic scale; 2^24 by default. It is
// max_loss_scale.
func (l OptLevel) MaxLossScale(scale float64) OptLevel {
	l.maxScale = scale
	return l
}

// CastModelOutputs makes the model return d. By default all levels return float32, including
// O1: Apex's O1 returns float16, which the loss then casts, because its casts apply to the
// whole program. It is cast_model_outputs.
func (l OptLevel) CastModelOutputs(d tensor.DType) OptLevel {
	if !d.IsFloat() || d.IsStorage() {
		l.refuse("cast_model_outputs", d.String(), "want a floating-point dtype of at least 16 bits")
	}
	l.outputType = d
	return l
}

// NumLosses sets the number of loss scales, one for each loss, selected by
// [ScaleLossOptions.LossID]; 1 by default. It is num_losses.
func (l OptLevel) NumLosses(n int) OptLevel {
	if n < 1 {
		l.refuse("num_losses", strconv.Itoa(n), "want 1 or more")
	}
	l.losses = n
	return l
}

// Verbosity sets what is printed: nothing for 0; the properties at the start and each skipped
// step for 1, the default. It is verbosity.
func (l OptLevel) Verbosity(v int) OptLevel {
	l.silent = v < 1
	return l
}

// WithPolicy sets the lists of O1, for example apex.Float16.With("sigmoid", amp.FP32).
func (l OptLevel) WithPolicy(p amp.Policy) OptLevel {
	if l.name != "O1" {
		l.refuse("policy", p.String(), "only O1 casts around operations")
	}
	l.policy = p
	return l
}

// Enabled disables everything if on is false: the program then runs as if Apex were absent.
func (l OptLevel) Enabled(on bool) OptLevel {
	l.off = !on
	return l
}

// dtypes are torch's floating-point dtypes by name.
var dtypes = map[string]tensor.DType{
	"float16": tensor.Float16, "half": tensor.Float16, "bfloat16": tensor.BFloat16,
	"float32": tensor.Float32, "float": tensor.Float32, "float64": tensor.Float64, "double": tensor.Float64,
}

// Set returns l with a property set from text, such as a command-line argument, under Apex's
// name: l.Set("keep_batchnorm_fp32", "False"), l.Set("loss_scale", "128.0").
func (l OptLevel) Set(property, value string) OptLevel {
	truth := func() bool {
		if value != "True" && value != "False" {
			l.refuse(property, strconv.Quote(value), `want "True" or "False"`)
		}
		return value == "True"
	}
	number := func() float64 {
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			l.refuse(property, strconv.Quote(value), "want a number")
		}
		return x
	}
	dtype := func() tensor.DType {
		d, ok := dtypes[strings.TrimPrefix(value, "torch.")]
		if !ok {
			l.refuse(property, strconv.Quote(value), "want torch.float16, torch.bfloat16, torch.float32 or torch.float64")
		}
		return d
	}
	switch property {
	case "keep_batchnorm_fp32":
		return l.KeepBatchNormFP32(truth())
	case "master_weights":
		return l.MasterWeights(truth())
	case "patch_torch_functions":
		return l.PatchTorchFunctions(truth())
	case "cast_model_type", "cast_model_outputs":
		switch {
		case value == "None" || value == "False":
			if property == "cast_model_type" {
				return l.KeepModelType()
			}
			l.outputType = 0
			return l
		case property == "cast_model_type":
			return l.CastModelType(dtype())
		}
		return l.CastModelOutputs(dtype())
	case "loss_scale":
		if value == "dynamic" {
			return l.DynamicLossScale()
		}
		return l.LossScale(number())
	case "min_loss_scale":
		return l.MinLossScale(number())
	case "max_loss_scale":
		return l.MaxLossScale(number())
	case "num_losses":
		return l.NumLosses(int(number()))
	case "verbosity":
		return l.Verbosity(int(number()))
	case "enabled":
		return l.Enabled(truth())
	}
	panic(&amp.Error{Code: "property", Call: "apex.Set", Why: fmt.Sprintf("unknown property %q", property), Cure: "want one of cast_model_type, patch_torch_functions, keep_batchnorm_fp32, master_weights, loss_scale, cast_model_outputs, num_losses, verbosity, min_loss_scale, max_loss_scale and enabled"})
}

// Properties returns Apex's five properties by name, as Apex prints them.
func (l OptLevel) Properties() map[string]string {
	model := "None"
	if l.modelType != 0 {
		model = "torch." + l.modelType.String()
	}
	scale := "dynamic"
	if l.scale != 0 {
		scale = strconv.FormatFloat(l.scale, 'f', -1, 64)
		if !strings.Contains(scale, ".") {
			scale += ".0"
		}
	}
	return map[string]string{
		"cast_model_type":       model,
		"patch_torch_functions": choice(l.patch).String(),
		"keep_batchnorm_fp32":   l.batchNorm.String(),
		"master_weights":        l.masters.String(),
		"loss_scale":            scale,
	}
}

// about describes the purpose of each level.
var about = map[string]string{
	"O0": "float32 training",
	"O1": "casts around operations",
	"O2": "float16 training with float32 batch norms and master weights",
	"O3": "float16 training",
}

// String returns the level and its properties, one on each line.
func (l OptLevel) String() string {
	if l.off {
		return l.name + ": off"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", l.name, about[l.name])
	properties := l.Properties()
	for _, name := range propertyNames {
		fmt.Fprintf(&b, "\n%-22s : %s", name, properties[name])
	}
	return b.String()
}
