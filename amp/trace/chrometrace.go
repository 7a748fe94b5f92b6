package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"halfnote/internal/save"
	"halfnote/internal/text"
)

// lane is a row of a Chrome trace. Operations of goroutines that overlap take further rows of the
// same name.
type lane struct {
	name  string
	order int
}

var (
	stepLane = lane{"steps", 0}
	castLane = lane{"casts", 4}
	lanes    = map[string]lane{"forward": {"forward", 1}, "backward": {"backward", 2}, "optimizer": {"optimizer", 3}}
)

// traceEvent is an event of Chrome's trace event format. Times are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// span is a complete event before it has a row.
type span struct {
	lane
	name       string
	start, end time.Duration
	args       map[string]any
}

// ChromeTrace writes the operations that [Recorder.Ops] returns, on a time axis, in Chrome's trace
// event format: rows for steps, forward, backward, optimizer and casts, with the dtypes, the module
// and the line of each operation, the loss scale as a curve and skipped steps as marks.
// ui.perfetto.dev and chrome://tracing open the file. rec.Step(7).ChromeTrace(path) writes one step.
// It is torch.profiler.profile.export_chrome_trace.
func (r *Recorder) ChromeTrace(path string) error {
	events := r.traceEvents()
	err := save.File(path, func(w io.Writer) error {
		io.WriteString(w, "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n")
		for i, e := range events {
			if i > 0 {
				io.WriteString(w, ",\n")
			}
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			w.Write(line)
		}
		_, err := io.WriteString(w, "\n]}\n") // save reports the error of any write
		return err
	})
	if err != nil {
		return fmt.Errorf("trace: chrome_trace: %w", err)
	}
	return nil
}

func (r *Recorder) traceEvents() []traceEvent {
	ops, steps := r.Ops(), r.Steps()
	var spans []span
	bounds := map[int]*span{}
	for i := range ops {
		op := &ops[i]
		spans = append(spans, span{lanes[op.phase()], op.Name, op.Start, op.Start + op.Duration, op.traceArgs()})
		first := op.Start
		for _, c := range op.Cast {
			if c.Cached || c.Promotion || c.Duration == 0 {
				continue
			}
			first = min(first, c.Start)
			args := map[string]any{"of": op.Name, "from": c.From.String(), "to": c.To.String(), "elements": c.Elements}
			if c.Rounded {
				args["flushed to 0"], args["overflowed"] = c.Rounding.Flushed, c.Rounding.Overflowed
			}
			spans = append(spans, span{castLane, text.Sprintf("%v → %v", c.From.Short(), c.To.Short()), c.Start, c.Start + c.Duration, args})
		}
		b := bounds[op.Step]
		if b == nil {
			b = &span{stepLane, fmt.Sprint("step ", op.Step), first, first, nil}
			bounds[op.Step] = b
		}
		b.start, b.end = min(b.start, first), max(b.end, op.Start+op.Duration)
	}
	for _, b := range bounds {
		spans = append(spans, *b)
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})

	const process = 1 // the thread with this number is the main thread in viewers
	events := []traceEvent{{Name: "process_name", Phase: "M", Process: process, Thread: process, Args: map[string]any{"name": "halfnote"}}}
	thread, ends := process+1, []time.Duration(nil) // first row of the lane so far, and the end of each row
	for i, s := range spans {
		if i == 0 || s.lane != spans[i-1].lane {
			thread, ends = thread+len(ends), nil
		}
		row := 0
		for row < len(ends) && ends[row] > s.start {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
			events = append(events,
				traceEvent{Name: "thread_name", Phase: "M", Process: process, Thread: thread + row, Args: map[string]any{"name": s.lane.name}},
				traceEvent{Name: "thread_sort_index", Phase: "M", Process: process, Thread: thread + row, Args: map[string]any{"sort_index": thread + row}})
		}
		ends[row] = s.end
		took := micros(s.end - s.start)
		events = append(events, traceEvent{Name: s.name, Category: s.lane.name, Phase: "X", Time: micros(s.start), Duration: &took, Process: process, Thread: thread + row, Args: s.args})
	}
	for _, s := range steps {
		b := bounds[s.Of]
		if b == nil { // its operations are beyond those held
			continue
		}
		events = append(events, traceEvent{Name: "loss scale", Phase: "C", Time: micros(b.start), Process: process, Args: map[string]any{"scale": number(s.Scale)}})
		if s.Skipped {
			events = append(events, traceEvent{Name: fmt.Sprint("step ", s.Of, " skipped"), Phase: "i", Scope: "p", Time: micros(b.end), Process: process, Args: map[string]any{"parameter": s.Param}})
		}
	}
	return events
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// traceArgs returns what a viewer shows about a selected operation.
func (op *OpRecord) traceArgs() map[string]any {
	args := map[string]any{"computed in": op.Computed.String(), "result": text.Sprintf("%v %v", op.Out, op.Shape), "why": op.Why, "step": op.Step}
	for name, v := range map[string]string{"module": op.Module, "parameter": op.Param, "line": op.Source, "derivative of": op.Of} {
		if v != "" {
			args[name] = v
		}
	}
	if op.Counted {
		args["inf or NaN"], args["zeros"] = op.Counts.Infs+op.Counts.NaNs, op.Counts.Zeros
	}
	return args
}
