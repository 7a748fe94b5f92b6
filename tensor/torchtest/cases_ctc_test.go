package torchtest

import (
	"halfnote/tensor/nn"
)

var _ = family("ctc", ctc())

func ctc() cases {
	all := cases{}
	add := func(name string, options ...nn.Option) {
		all["ctc_loss "+name] = func(in []T) T { return nn.CTCLoss(in[0], in[1], in[2], in[3], options...) }
	}
	none, sum := nn.Reduction("none"), nn.Reduction("sum")
	add("mean")
	add("sum", sum)
	add("none", none)
	add("row", none)
	add("blank", nn.Blank(4), none)
	add("blank among targets", none)
	add("infinite", none)
	add("zero infinity", none, nn.ZeroInfinity())
	add("zero infinity mean", nn.ZeroInfinity())
	add("no steps", none)
	add("one")
	add("one, none", none)
	add("int32", sum)
	add("long")
	for name, option := range map[string]nn.Option{"mean": nn.Reduction("mean"), "sum": sum, "none": none} {
		all["ctc_loss of logits, "+name] = func(in []T) T {
			return nn.NewCTCLoss(option).Forward(in[0].LogSoftmax(-1), in[1], in[2], in[3])
		}
	}
	return all
}
