package live

import "reflect"

// Recv receives from channel c, or stops waiting when the cell is told to stop. It puts
// the received value into the channel into, which is empty and has room for it; ok is
// false if c is closed. The mark, here and in the other functions that wait, is that of the operation.
func (r *Registry) Recv(c, into any, mark int) (ok bool) {
	from := reflect.ValueOf(c)
	if from.IsValid() && !from.IsNil() {
		if v, ok := from.TryRecv(); v.IsValid() {
			reflect.ValueOf(into).Send(v)
			return ok
		}
	}
	_, ok = r.Select(mark, "r", c, into)
	return ok
}

// Send sends to channel c the value in the channel from, or stops waiting when the cell
// is told to stop.
func (r *Registry) Send(c, from any, mark int) { r.Select(mark, "s", c, from) }

// Select executes a select statement; it stops waiting when the cell is told to stop. Each
// letter of kinds is a case: r receives, s sends, d is the default. The operands are
// the channels of the cases, each followed by the channel that the value comes from or
// goes to as with Send and Recv, or nil if the value is unused. Select returns the number
// of the case, and for a receive whether a value was sent.
func (r *Registry) Select(mark int, kinds string, operands ...any) (chosen int, ok bool) {
	cases := make([]reflect.SelectCase, len(kinds), len(kinds)+1)
	into := make([]reflect.Value, len(kinds))
	wait := true
	for i := range cases {
		if kinds[i] == 'd' {
			cases[i].Dir = reflect.SelectDefault
			wait = false
			continue
		}
		cases[i].Chan = reflect.ValueOf(operands[0])
		into[i] = reflect.ValueOf(operands[1])
		operands = operands[2:]
		cases[i].Dir = reflect.SelectRecv
		if kinds[i] == 's' {
			cases[i].Dir = reflect.SelectSend
			cases[i].Send, _ = into[i].Recv()
		}
	}
	if wait {
		if r.arrive(mark) {
			defer r.depart()
		}
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.Current().stop)})
	}
	chosen, v, ok := reflect.Select(cases)
	if wait && chosen == len(kinds) {
		r.Poll() // returns in a deferred function of a stopped goroutine, which may wait
		chosen, v, ok = reflect.Select(cases[:chosen])
	}
	if cases[chosen].Dir == reflect.SelectRecv && into[chosen].IsValid() {
		into[chosen].Send(v)
	}
	return chosen, ok
}
