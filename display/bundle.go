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

import (
	"encoding/base64"
	"maps"
	"strings"
)

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

// String returns the bundle's text/plain, so that printing a bundle says what
// showing it would.
func (b Bundle) String() string {
	s, _ := b.Data["text/plain"].(string)
	return s
}

// clean returns a copy that owns its maps and that JSON can carry: bytes become
// base64, or a string where the type is text.
func (b Bundle) clean() Bundle {
	data := make(map[string]any, len(b.Data)+1)
	for mime, v := range b.Data {
		if raw, ok := v.([]byte); ok {
			if v = string(raw); !isText(mime) {
				v = base64.StdEncoding.EncodeToString(raw)
			}
		}
		data[mime] = v
	}
	return Bundle{Data: data, Metadata: maps.Clone(b.Metadata), ID: b.ID}
}

func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript"
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
