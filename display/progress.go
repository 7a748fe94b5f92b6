package display

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Progress is a progress bar. Its methods may be called from any goroutine and at any rate: the
// display changes at most four times a second, and the last state is always shown.
type Progress struct {
	handle *Handle
	label  string
	total  int
	start  time.Time
	outer  *Progress // bar that was running when this one began; may be nil

	mu     sync.Mutex
	done   int
	final  bool               // whether Finish was called or the total reached
	ended  time.Duration      // duration until the final state or the end of the cell; 0 while running
	inner  map[string]*Handle // outputs of bars that ran inside this one and have finished, by label
	shown  time.Time
	later  *time.Timer // timer that shows pending changes
	recent []moment    // the last states shown, the oldest first
}

// moment is a state of a progress bar.
type moment struct {
	at   time.Time
	done int
}

// recently is the number of states that a rate is computed from: about five seconds.
const recently = 20

// NewProgress shows an empty bar of total steps. If total is 0 or less, the total is unknown and
// the bar counts steps. The bar shows the rate of the last seconds and the time left. A bar that is
// made inside the loop of another one takes the place of the one before it with the same label. [Track]
// is a loop with a bar.
func NewProgress(total int, label string) *Progress { return standard.NewProgress(total, label) }

// NewProgress shows an empty bar of total steps. If total is 0 or less, the total is unknown and
// the bar counts steps.
func (s *Screen) NewProgress(total int, label string) *Progress {
	p := &Progress{label: label, total: max(total, 0), start: time.Now(), outer: s.running()}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown, p.recent = p.start, []moment{{p.start, 0}}
	if p.handle = p.outer.place(label, s.sink()); p.handle != nil {
		p.handle.pass(p.handle.named(p.bundle()))
	} else {
		p.handle = s.Live(p.bundle())
	}
	s.open(p)
	return p
}

// running returns the bar that began last and has not finished, or nil.
func (s *Screen) running() *Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range slices.Backward(s.opened) {
		if p, ok := u.(*Progress); ok {
			return p
		}
	}
	return nil
}

// place returns the output of a finished bar inside p with that label, or nil.
func (p *Progress) place(label string, sink Sink) *Handle {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.inner[label]
	if h == nil || h.sink != sink {
		return nil
	}
	delete(p.inner, label)
	return h
}

// Add records n more steps.
func (p *Progress) Add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(p.done + n)
}

// Set records that n steps are done.
func (p *Progress) Set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(n)
}

// Finish shows the final state of the bar and the time taken. A bar that reaches its total
// finishes without a call.
func (p *Progress) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish()
}

func (p *Progress) set(n int) {
	p.done = max(n, 0)
	if p.total > 0 {
		p.done = min(p.done, p.total)
	}
	if !p.final {
		p.ended = 0 // a goroutine that outlives its cell continues
	}
	switch wait := frame - time.Since(p.shown); {
	case p.final:
	case p.total > 0 && p.done == p.total:
		p.finish()
	case wait <= 0:
		p.show()
	case p.later == nil:
		p.later = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.later != nil {
				p.show()
			}
		})
	}
}

func (p *Progress) finish() {
	if p.final {
		return
	}
	p.final = true
	if p.ended == 0 {
		p.ended = max(time.Since(p.start), 1)
	}
	p.show()
	p.handle.screen.close(p)
	for _, h := range p.inner {
		h.end()
	}
	if p.outer == nil || !p.outer.keep(p) {
		p.handle.end()
	}
}

// keep keeps the output of a finished inner bar for the next one with its label, unless p has
// finished too.
func (p *Progress) keep(inner *Progress) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.final {
		return false
	}
	if p.inner == nil {
		p.inner = map[string]*Handle{}
	}
	if old := p.inner[inner.label]; old != nil {
		old.end()
	}
	p.inner[inner.label] = inner.handle
	return true
}

// settle implements unsettled: the cell of a running bar has ended.
func (p *Progress) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.final && p.ended == 0 {
		p.ended = max(time.Since(p.start), 1)
		p.show()
		p.handle.end()
	}
}

func (p *Progress) show() {
	if p.later != nil {
		p.later.Stop()
		p.later = nil
	}
	p.shown = time.Now()
	p.recent = append(p.recent[max(len(p.recent)-recently, 0):], moment{p.shown, p.done})
	if b := p.bundle(); p.ended == 0 || p.final && p.outer != nil {
		p.handle.pass(p.handle.named(b))
	} else {
		p.handle.Update(b)
	}
}

// bundle renders the bar as text and as an HTML element.
func (p *Progress) bundle() Bundle {
	const width = 20
	count, bar, element := fmt.Sprintf("%d", p.done), "", ""
	if p.total > 0 {
		count = fmt.Sprintf("%d/%d", p.done, p.total)
		full := int(width * (float64(p.done) / float64(p.total)))
		bar = "[" + strings.Repeat("█", full) + strings.Repeat("·", width-full) + "]"
		element = fmt.Sprintf(`<progress max="%d" value="%d"></progress>`, p.total, p.done)
	}
	count += p.pace()
	var text, page []string
	if p.label != "" {
		text, page = append(text, p.label), append(page, "<span>"+html.EscapeString(p.label)+"</span>")
	}
	if bar != "" {
		text, page = append(text, bar), append(page, element)
	}
	return Bundle{Data: map[string]any{
		"text/plain": strings.Join(append(text, count), " "),
		"text/html":  "<div>" + strings.Join(append(page, "<span>"+count+"</span>"), " ") + "</div>",
	}}
}

// pace returns the rate and the time left of a running bar, and the time and the rate of an ended
// one.
func (p *Progress) pace() string {
	if p.ended != 0 {
		text, in := "", " in "
		if p.done < p.total {
			text, in = ", stopped", " after "
		}
		if p.ended >= time.Millisecond {
			text += in + Duration(p.ended)
		}
		if p.ended >= frame && p.done > 0 {
			text += ", " + perSecond(float64(p.done)/p.ended.Seconds())
		}
		return text
	}
	if len(p.recent) == 0 {
		return ""
	}
	old := p.recent[0]
	now := p.recent[len(p.recent)-1]
	rate := float64(now.done-old.done) / now.at.Sub(old.at).Seconds()
	if !(rate > 0) || rate > 1e15 {
		return ""
	}
	text := ", " + perSecond(rate)
	if p.total > 0 {
		text += ", " + secondsLeft(float64(p.total-p.done)/rate) + " left"
	}
	return text
}

// perSecond formats a rate: "31/s", or "2.5 s each" if it is below one a second.
func perSecond(rate float64) string {
	switch {
	case rate >= 99.5:
		return fmt.Sprintf("%.0f/s", rate)
	case rate >= 1:
		return fmt.Sprintf("%.3g/s", rate)
	}
	return Duration(time.Duration(min(1e9/rate, 1e18))) + " each"
}

// secondsLeft formats a time as h:mm:ss, m:ss or seconds.
func secondsLeft(s float64) string {
	n := int(min(math.Ceil(s), 1e9))
	switch {
	case n >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	case n >= 60:
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return fmt.Sprintf("%d s", n)
}
