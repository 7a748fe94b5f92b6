package ssa

import (
	"strconv"
	"strings"
)

// operation says how the back ends print an operation.
type operation struct {
	operands int
	// inGo is the expression in Go, which may be followed by statements that change the result, {v}. {0} … are the
	// operands as numbers, {b0} … their bits, {n} the line's bits, {x} and {y} the function's operands as numbers,
	// {number} the type of numbers, {from} the function that makes one of bits, and {fma} the fused multiply-add.
	inGo string
	// instruction is what both kinds of registers have: {P} is PS or PD, {W} is D or Q, {Z} is Q with AVX-512, and
	// {n} the line's bits. Operations that take more than an instruction have none.
	instruction string
	flags       flags
}

type flags int

const (
	commutes flags = 1 << iota
	single         // of programs of float32 alone
	wide           // of AVX-512 alone
)

func (o operation) has(f flags) bool { return o.flags&f != 0 }

// operations holds all operations.
var operations = map[string]operation{
	"add":           {2, "{0} + {1}", "VADD{P}", commutes},
	"alpha":         {0, "alpha", "", single},
	"and":           {2, "{from}({b0} & {b1})", "VPAND{Z}", commutes},
	"const":         {0, "", "", 0},
	"div":           {2, "{0} / {1}", "VDIV{P}", 0},
	"exponent":      {1, "", "VGETEXPPS", single | wide},
	"fma":           {3, "{fma}({0}, {1}, {2})", "VFMADD", 0},
	"fnma":          {3, "{fma}(-{0}, {1}, {2})", "VFNMADD", 0},
	"fraction":      {1, "", "VGETMANTPS $11,", single | wide},
	"left":          {1, "{from}({b0} << {n})", "VPSLL{W} ${n},", 0},
	"less":          {4, "{3}\nif {0} < {1} {\n{v} = {2}\n}", "", 0},
	"lookup":        {1, "lookups[{n}][{b0}&31]", "", single},
	"max":           {2, "{1}\nif {0} > {1} {\n{v} = {0}\n}", "VMAX{P}", 0},
	"min":           {2, "{1}\nif {0} < {1} {\n{v} = {0}\n}", "VMIN{P}", 0},
	"minus":         {2, "{from}({b0} - {b1})", "VPSUB{W}", 0},
	"mul":           {2, "{number}({0} * {1})", "VMUL{P}", commutes},
	"or":            {2, "{from}({b0} | {b1})", "VPOR{Z}", commutes},
	"plus":          {2, "{from}({b0} + {b1})", "VPADD{W}", commutes},
	"right":         {1, "{from}({b0} >> {n})", "VPSRL{W} ${n},", 0},
	"rightSigned":   {1, "{from}(uint32(int32({b0}) >> {n}))", "VPSRAD ${n},", single},
	"rsqrtEstimate": {1, "", "VRSQRT14PS", single | wide},
	"scale":         {2, "scaled({0}, {1})", "", single},
	"shifted":       {0, "{number}(x - alpha)", "", 0},
	"sqrt":          {1, "float32(math.Sqrt(float64({0})))", "VSQRT{P}", single},
	"sub":           {2, "{0} - {1}", "VSUB{P}", 0},
	"toFloat":       {1, "float32(int32({b0}))", "VCVTDQ2PS", single},
	"x":             {0, "{x}", "", 0},
	"xor":           {2, "{from}({b0} ^ {b1})", "VPXOR{Z}", commutes},
	"y":             {0, "{y}", "", 0},
}

// fill returns a form of the table with its names replaced by words, which are pairs of a name and a replacement.
func (l line) fill(form string, words ...string) string {
	return strings.NewReplacer(append(words, "{n}", strconv.FormatUint(l.bits, 10))...).Replace(form)
}
