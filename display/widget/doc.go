// Package widget has the sliders and buttons of a notebook. It speaks the widget
// messaging protocol 2.1 of ipywidgets 8, so every front end that shows Python's
// widgets shows these.
//
// A widget is a value: it can be made, read and set anywhere, in a program without a
// notebook too. When a cell shows it, the front end gets to know it, and from then on
// both sides see what the other changes:
//
//	lr := widget.NewFloatLogSlider(1e-3, -5, 0, widget.Description("lr"))
//	lr.OnChange(func(v float64) { fmt.Println("now", v) })
//	lr
//
// Value returns what the reader has chosen last, at once, so that a training loop can
// ask in every step. Functions given to OnChange and OnClick run beside the cell that
// runs, those of one widget one after the other; what they share with cells they have
// to guard, as goroutines do. What they print goes to the cell that showed the widget,
// or to an [Output]. A panic ends the function and is reported there, and an interrupt
// stops it. [Interact] does the usual thing: it calls a function again whenever one of
// some widgets changes.
//
// A page without a running kernel shows what a widget showed last, as text.
//
// [OpenComm] and [RegisterTarget] are for those who bring their own code into the front
// end: they open the channels on which widgets talk, called comms.
package widget
