package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// Rules about pairs of operations.

func doubleSigmoid(w *watch, e *tensor.Event) string {
	if e.Backward || e.Op.Name != "binary_cross_entropy_with_logits" {
		return ""
	}
	if n := w.maker(e.In[0].ID); n.op == "sigmoid" {
		return "the logits of binary_cross_entropy_with_logits are the result of sigmoid" + n.at.said()
	}
	return ""
}

// said returns the place in parentheses.
func (p spot) said() string {
	s := strings.Trim(p.source+", module "+p.module, ", ")
	if p.module == "" {
		s = p.source
	}
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func doubleSoftmax(w *watch, e *tensor.Event) string {
	if e.Backward || e.Op.Name != "log_softmax" {
		return ""
	}
	if n := w.maker(e.In[0].ID); n.op == "softmax" {
		return "the logits of cross_entropy or log_softmax are the result of softmax" + n.at.said()
	}
	return ""
}

func nllOfSoftmax(w *watch, e *tensor.Event) string {
	if e.Backward || !strings.HasPrefix(e.Op.Name, "nll_loss") {
		return ""
	}
	if n := w.maker(e.In[0].ID); n.op == "softmax" {
		return "nll_loss is given the result of softmax" + n.at.said()
	}
	return ""
}

// byHand finds compositions for which a fused operation exists.
func byHand(w *watch, e *tensor.Event) string {
	if e.Backward || len(e.In) == 0 {
		return ""
	}
	arg := w.maker(e.In[0].ID)
	of := func(n node, op string) bool { return len(n.in) > 0 && w.maker(n.in[0]).op == op }
	switch name := e.Op.Name; {
	case name == "log" && arg.op == "softmax":
		return "log of softmax: use LogSoftmax"
	case name == "log" && arg.op == "sigmoid":
		return "log of sigmoid: use LogSigmoid"
	case name == "log" && strings.HasPrefix(arg.op, "sum") && of(arg, "exp"):
		return "log of a sum of exp: use LogSumExp"
	case name == "log" && arg.op == "add_scalar" && of(arg, "exp"), name == "log1p" && arg.op == "exp":
		return "log of 1 + exp: use Softplus"
	case name == "div" && arg.op == "exp":
		if by := w.maker(e.In[1].ID); strings.HasPrefix(by.op, "sum") && slices.Contains(by.in, w.origin(e.In[0].ID)) {
			return "exp divided by its sum: use Softmax, which subtracts the largest element first"
		}
	}
	return ""
}

// keptGraph finds a sum that continues from one backward pass to the next.
func keptGraph(w *watch, e *tensor.Event) string {
	if e.Backward || e.InPlace || e.Op.Name != "add" || !tensor.IsGradEnabled() {
		return ""
	}
	for i, m := range e.In {
		total := w.nodes[m.ID]
		if total.op != "add" || !total.graph || total.pass == w.backwards || !e.Operands[i].RequiresGrad() {
			continue
		}
		if slices.ContainsFunc(total.in, func(id int) bool { return w.nodes[id].spent }) {
			return fmt.Sprintf("a running sum, of shape %s, holds the graph of an earlier step", text.Shape(e.Out.Shape))
		}
	}
	return ""
}

// trainInInference records operations that ran in training mode under NoGrad. They are findings
// only if they turn out not to belong to a checkpoint, which runs twice.
func trainInInference(w *watch, e *tensor.Event) string {
	switch name := e.Op.Name; {
	case e.Backward:
	case name == "checkpoint":
		w.inference = nil
	case tensor.IsGradEnabled():
	case name == "dropout" || name == "alpha_dropout":
		w.inference = append(w.inference, suspicion{w.here, "dropout ran under NoGrad"})
	case name == "batch_norm_stats":
		w.inference = append(w.inference, suspicion{w.here, "batch normalization took the statistics of the batch under NoGrad"})
	}
	return ""
}

func trainedInInference(w *watch, found found) {
	for _, x := range w.inference {
		found(x.at, x.text)
	}
}
