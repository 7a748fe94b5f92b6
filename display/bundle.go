// Package display turns Go values into what a notebook shows: MIME bundles.
//
// It knows MIME types, Jupyter's rules for them and the methods that a value may
// have to describe itself. It knows nothing of sockets, tensors or charts: a
// value that can show itself has one of the methods of [Of], found
// structurally, so a package need not import display to be displayed.
//
// Every rich bundle holds text/plain too, and HTML that survives an untrusted
// notebook: inline styles, tables and <img alt>, no script, <style>, inline
// <svg> or CSS variable.
package display

// Bundle is one output in several MIME types, the way Jupyter's display_data and
// execute_result carry it.
type Bundle struct {
	// Data maps a MIME type to its content: a string for text, base64 text for
	// binary types, any JSON value for JSON types.
	Data map[string]any
	// Metadata maps a MIME type to what a front end should know of it, as
	// image/png to its width and height in CSS pixels.
	Metadata map[string]any
	// ID is the display_id under which the output can be replaced later, or
	// empty.
	ID string
}

// Sink is the output area of a cell. Its methods may be called from any
// goroutine, also after the cell has ended; they do not keep the bundle's maps.
type Sink interface {
	// Display appends an output.
	Display(Bundle)
	// Update replaces the data of every output whose ID is b.ID; nothing
	// happens where there is none.
	Update(b Bundle)
	// Clear removes the outputs of the cell, at once or, with wait, when the
	// next one comes.
	Clear(wait bool)
}
