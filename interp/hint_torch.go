package interp

import "strings"

// torchHints maps errors of expressions that are valid in PyTorch to the methods that Go
// calls instead. An entry applies to an error that contains all of its parts.
var torchHints = []struct {
	parts []string
	hint  string
}{
	{[]string{"cannot call ", "*nn."}, "call its method: net.Forward(x)"},
	{[]string{"cannot index ", "*tensor.Tensor"}, "x.Select(0, i) is x[i], and x.Narrow(0, start, length) is x[start:start+length]"},
	{[]string{"for built-in len", "*tensor.Tensor"}, "x.Size(0) is the length of the first dimension, x.Numel() the number of elements"},
	{[]string{"operator + ", "*tensor.Tensor"}, "x.Add(y) adds tensors, x.AddScalar(c) adds a number"},
	{[]string{"operator - ", "*tensor.Tensor"}, "x.Sub(y) subtracts tensors, x.Neg() changes the sign"},
	{[]string{"operator * ", "*tensor.Tensor"}, "x.Mul(y) multiplies tensors, x.MulScalar(c) multiplies by a number, x.MatMul(y) is the matrix product"},
	{[]string{"operator / ", "*tensor.Tensor"}, "x.Div(y) divides tensors, x.DivScalar(c) divides by a number"},
}

// torchHint suggests the method for an operator that Go does not have for tensors and modules, or
// returns "".
func torchHint(msg string) string {
	for _, h := range torchHints {
		all := true
		for _, part := range h.parts {
			all = all && strings.Contains(msg, part)
		}
		if all {
			return h.hint
		}
	}
	return ""
}
