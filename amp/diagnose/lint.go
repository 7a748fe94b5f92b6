package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"halfnote/amp"
	"halfnote/tensor"
)

// Severity says what a finding costs.
type Severity uint8

// The severities, the worst first.
const (
	Mistake Severity = iota // results are wrong, or nothing is learnt
	Risk                    // results may be wrong, or worse than they need be
	Advice                  // results are right; time or memory is lost
)

// String returns the severity in lower case.
func (s Severity) String() string { return [...]string{"mistake", "risk", "advice"}[s] }

// Finding is one thing that a linter has to say.
type Finding struct {
	Code     string // short and stable, "double-sigmoid"
	Severity Severity
	Module   string // path of the module where it happened, if one is known
	Source   string // line of the cell, "In[3], line 5"; "" outside cells
	What     string // what happened, with its numbers
	Why      string // why that matters
	Cure     string // what to do instead
	From     string // where the lesson is from
	Count    int    // how often it happened
}

// LintReport is what Lint returns: the findings, the worst first.
type LintReport struct {
	Findings   []Finding
	Operations int // that were looked at
	Steps      int // of optimizers
}

// Lint runs step, which trains one step or a few, twice, since some mistakes show only
// from one step to the next, and returns what is wrong, risky or slow in how it uses
// mixed precision: the order of the calls, pairs of operations, dtypes, sizes. net is
// the model that step trains, to name modules and to look at its parameters; nil knows
// less. It looks at what happens on all goroutines and changes nothing; the steps are
// taken. A call that a scaler or autocast refuses ends the run and is a finding.
//
// [LintRules] lists what it knows.
func Lint(net any, step func()) *LintReport {
	w := newWatch(net)
	stop := []func(){tensor.Observe(w.operation), tensor.ObserveMarks(w.mark), amp.Observe(w.scaler)}
	func() {
		defer func() {
			for _, f := range stop {
				f()
			}
		}()
		for range 2 {
			if w.cut = w.refusal(step); w.cut {
				return
			}
		}
	}()
	w.end()
	return w.report()
}

// refusal runs step and reports whether a call in it was refused; other panics go on.
func (w *watch) refusal(step func()) (refused bool) {
	needStep("Lint", step != nil)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		tensor.Note(tensor.Mark{Name: "panic"}) // tells the line
		err, _ := p.(error)
		if refused = err != nil && w.refused(err); !refused {
			panic(p)
		}
	}()
	step()
	return false
}

// refused notes what a rule says of an error, if one does.
func (w *watch) refused(err error) bool {
	code, why := "", ""
	var a *amp.Error
	var t *tensor.Error
	switch {
	case errors.As(err, &a):
		code, why = a.Code, fmt.Sprintf("the call of %s was refused: %s", a.Call, a.Why)
	case errors.As(err, &t):
		code, why = refusedOperation(t), t.Error()
	}
	for i := range rules {
		if slices.Contains(rules[i].refused, code) {
			w.find(&rules[i], w.here, "%s", why)
			return true
		}
	}
	if a != nil {
		w.find(&rule{code: a.Code, severity: Mistake, why: "The call was refused, so the step did not end.", cure: a.Cure + ".", source: "torch/amp/grad_scaler.py"}, w.here, "%s", why)
	}
	return a != nil
}

// find adds a finding, or counts it if it is known of this place.
func (w *watch) find(r *rule, at spot, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.findings {
		f := &w.findings[i]
		if f.Code == r.code && f.Source == at.source && f.Module == at.module {
			f.Count++
			return
		}
	}
	w.findings = append(w.findings, Finding{
		Code: r.code, Severity: r.severity, Module: at.module, Source: at.source,
		What: sentence(format, args...), Why: r.why, Cure: r.cure, From: r.source, Count: 1,
	})
}

func (w *watch) report() *LintReport {
	slices.SortStableFunc(w.findings, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return &LintReport{Findings: w.findings, Operations: w.operations, Steps: w.steps}
}

// Codes returns the codes of the findings, each once, the worst first.
func (r *LintReport) Codes() []string {
	var codes []string
	for _, f := range r.Findings {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// Clean reports whether there are no findings.
func (r *LintReport) Clean() bool { return len(r.Findings) == 0 }
