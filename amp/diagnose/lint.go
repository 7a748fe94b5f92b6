package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"halfnote/amp"
	"halfnote/tensor"
)

// Severity is the severity of a finding.
type Severity uint8

// The severities, worst first.
const (
	Mistake Severity = iota // results are wrong, or the model learns nothing
	Risk                    // results may be wrong, or worse than necessary
	Advice                  // results are right, but time or memory is wasted
)

// String returns the severity in lower case.
func (s Severity) String() string { return [...]string{"mistake", "risk", "advice"}[s] }

// Finding is a single result of the linter.
type Finding struct {
	Code     string // short and stable, "double-sigmoid"
	Severity Severity
	Module   string // path of the module where it happened, if known
	Role     Role   // product of a layer that it is about; "" for other findings
	Source   string // line of the cell, "In[3], line 5"; "" outside cells
	What     string // what happened, with its numbers
	Why      string // why that matters
	Cure     string // what to do instead
	From     string // reference for the rule
	Count    int    // how often it happened
}

// LintReport is the result of Lint: the findings, worst first.
type LintReport struct {
	Findings   []Finding
	Operations int // operations observed
	Steps      int // optimizer steps observed

	rules int // rules that were checked, 0 for all
}

// Lint runs step, which trains for one or a few steps, twice, because some mistakes show only
// from one step to the next, and reports what is wrong, risky or slow in its use of mixed
// precision: the order of calls, pairs of operations, dtypes, sizes. net is the model that step
// trains, used to name modules and to check parameters; it may be nil. Lint
// changes nothing; the training steps take effect. A call that a scaler or
// autocast rejects ends the run and is a finding. In a process group of several ranks all of them call Lint, which
// compares their scalers.
//
// [LintRules] lists the rules.
func Lint(net any, step func()) *LintReport {
	needLayers("Lint", net, "LintIn")
	w := newWatch(net)
	func() {
		defer observer{w.operation, w.call, w.scaler, w.transfer}.watch()()
		defer w.gemms.stop()
		for range 2 {
			if w.cut = w.refusal(step); w.cut {
				return
			}
		}
	}()
	w.ranksDiffer()
	w.end()
	return w.report()
}

// refusal runs step and reports whether a call in it was rejected; other panics propagate.
func (w *watch) refusal(step func()) (refused bool) {
	needStep("Lint", step != nil)
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		calls.Note(call{Name: "panic"}) // tells the line
		err, _ := p.(error)
		if refused = err != nil && w.refused(err); !refused {
			panic(p)
		}
	}()
	step()
	return false
}

// refused records the finding of the rule for an error, if there is one.
func (w *watch) refused(err error) bool {
	code, why := "", ""
	var a *amp.Error
	var t *tensor.Error
	switch {
	case errors.As(err, &a):
		code, why = a.Code, fmt.Sprintf("the call of %s was rejected: %s", a.Call, a.Why)
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
		w.find(&rule{code: a.Code, severity: Mistake, why: "The call was rejected, so the step did not complete.", cure: a.Cure + ".", source: "torch/amp/grad_scaler.py"}, w.here, "%s", why)
	}
	return a != nil
}

// find adds a finding, or counts it if already known at this place.
func (w *watch) find(r *rule, at spot, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.findings {
		f := &w.findings[i]
		if f.Code == r.code && f.Source == at.source && f.Module == at.module && f.Role == at.role {
			f.Count++
			return
		}
	}
	w.findings = append(w.findings, Finding{
		Code: r.code, Severity: r.severity, Module: at.module, Role: at.role, Source: at.source,
		What: sentence(format, args...), Why: r.why, Cure: r.cure, From: r.source, Count: 1,
	})
}

func (w *watch) report() *LintReport {
	slices.SortStableFunc(w.findings, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return &LintReport{Findings: w.findings, Operations: w.operations, Steps: w.steps}
}

// Codes returns the distinct codes of the findings, worst first.
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
