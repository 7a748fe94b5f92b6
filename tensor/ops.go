package tensor

// ops lists every operation, sorted by name. A new one is a type in a file and a
// line here.
var ops = []Op{
	abs{},
	add{},
	addScalar{},
	same{},
	amax{},
	amin{},
	cast{},
	clone{},
	conv{dims: 1},
	conv{dims: 2},
	conv{dims: 3},
	convTBC{},
	convTranspose{conv: conv{dims: 1}},
	convTranspose{conv: conv{dims: 2}},
	convTranspose{conv: conv{dims: 3}},
	convWeight{conv{dims: 1}},
	convWeight{conv{dims: 2}},
	convWeight{conv{dims: 3}},
	div{},
	erf{},
	exp{},
	expand{},
	gelu{},
	l1Loss{},
	linear{},
	log{},
	log1p{},
	logSoftmax{},
	logSoftmaxGrad{},
	matmul{},
	maximum{},
	mean{},
	minimum{},
	mseLoss{},
	mul{},
	mulScalar{},
	neg{},
	norm{},
	permute{},
	pow{},
	reciprocal{},
	relu{},
	reshape{},
	sigmoid{},
	sigmoidGrad{},
	slice{},
	sliceGrad{},
	softmax{},
	softmaxGrad{},
	sqrt{},
	step{},
	sub{},
	sum{},
	tanh{},
	tanhGrad{},
	thresholdGrad{},
	where{},
}

// Ops returns the operations, sorted by name.
func Ops() []Info {
	infos := make([]Info, len(ops))
	for i, op := range ops {
		infos[i] = op.Info()
	}
	return infos
}
