// Package widget provides the sliders and buttons of a notebook. It implements the widget
// messaging protocol 2.1 of ipywidgets 8, so that every front end that shows Python's widgets
// shows them.
//
// A widget is a value: it can be created, read and set anywhere, including in programs without a
// notebook. When a cell shows it, it is opened in the front end, and from then on each side
// receives the other's changes:
//
//	lr := widget.NewFloatLogSlider(1e-3, -5, 0, widget.Description("lr"))
//	lr.OnChange(func(v float64) { fmt.Println("now", v) })
//	lr
//
// Value returns the reader's latest choice without waiting, so that a training loop can call it in every
// step. Functions given to OnChange and OnClick run concurrently with the running cell, those of
// one widget one after the other; data that they share with cells needs synchronisation, as
// between any goroutines. Their output goes to the cell that showed the widget, or to an
// [Output]. A panic ends the function and is reported there; an interrupt stops it. [Interact]
// covers the common case: it calls a function again whenever one of several widgets changes.
//
// A page without a running kernel draws widgets from the states that are saved in the notebook:
// JupyterLab, nbviewer and nbconvert's HTML do. `halfnote run --output` saves them, and so does
// `halfnote lab`; another JupyterLab needs the setting "Save Widget State Automatically". Pages that
// draw no widgets, such as those of `halfnote run --html` and GitHub, show them as text: with their
// last state after `halfnote run`, else with the state in which a cell showed them.
//
// [OpenComm] and [RegisterTarget] are for custom front-end code: they open comms, the channels
// that widgets use.
package widget
