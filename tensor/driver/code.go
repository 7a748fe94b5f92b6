package driver

import "fmt"

var codes = map[Code]string{
	Fill:        "fill",
	Copy:        "copy",
	Affine:      "affine",
	Neg:         "neg",
	Abs:         "abs",
	Exp:         "exp",
	Log:         "log",
	Log1p:       "log1p",
	Sqrt:        "sqrt",
	Tanh:        "tanh",
	Erf:         "erf",
	Sigmoid:     "sigmoid",
	Relu:        "relu",
	Step:        "step",
	Reciprocal:  "reciprocal",
	Pow:         "pow",
	Add:         "add",
	AddScaled:   "add_scaled",
	Sub:         "sub",
	Mul:         "mul",
	Div:         "div",
	Max:         "max",
	Min:         "min",
	Equal:       "equal",
	Less:        "less",
	LessEqual:   "less_equal",
	ReluGrad:    "relu_grad",
	TanhGrad:    "tanh_grad",
	SigmoidGrad: "sigmoid_grad",
	Where:       "where",
	Sum:         "sum",
	Mean:        "mean",
	SumSquares:  "sum_squares",
	ReduceMax:   "reduce_max",
	ReduceMin:   "reduce_min",
	Matmul:      "matmul",
	Gather:      "gather",
	Scatter:     "scatter",
	ScatterAdd:  "scatter_add",
	ScatterMul:  "scatter_mul",
	ScatterMax:  "scatter_max",
	ScatterMin:  "scatter_min",
	ArgMax:      "argmax",
	ArgMin:      "argmin",
	ArgSort:     "argsort",
	Unscale:     "unscale",
	SGD:         "sgd",
}

// String returns the code's name, "add".
func (c Code) String() string {
	if name := codes[c]; name != "" {
		return name
	}
	return fmt.Sprintf("code %d", uint8(c))
}
