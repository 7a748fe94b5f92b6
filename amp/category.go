package amp

import (
	"fmt"

	"halfnote/tensor"
)

// Category is one of the lists of torch's autocast: what it does with an operation's operands.
type Category uint8

// The categories.
const (
	Unlisted       Category = iota // operands keep their dtypes
	LowerPrecision                 // lower_precision_fp: operands are cast to the policy's dtype
	FP32                           // fp32: operands are cast to float32
	Promote                        // promote: operands are cast to the widest of their dtypes
	Banned                         // banned: must not be used under autocast
	ExplicitDType                  // fp32_set_opt_dtype with a dtype given by the caller, for example SumAs: operands keep their dtypes
)

// String returns torch's name of the list.
func (c Category) String() string {
	if c > ExplicitDType {
		return fmt.Sprintf("Category(%d)", uint8(c))
	}
	return [...]string{"unlisted", "lower_precision_fp", "fp32", "promote", "banned", "explicit dtype"}[c]
}

var categoryNames = [...]string{"Unlisted", "LowerPrecision", "FP32", "Promote", "Banned"}

// Listed returns the one of torch's CUDA lists that op is on, whatever the policy in force. It
// does not look at the parts that torch composes op from: [Policy.Category] does.
func Listed(op tensor.Info) Category {
	if op.GivenDType {
		return ExplicitDType
	}
	return lists[op.Name].cuda
}
