// Package display converts Go values to notebook outputs: MIME bundles.
//
// It covers MIME types, Jupyter's rules for them and the methods by which a value describes
// itself. It does not depend on sockets, tensors or charts: a value is displayed by its
// methods, which are listed at [Of]. They are found structurally, so a package need not import
// display.
//
// Every rich bundle also contains text/plain, and HTML that survives an untrusted notebook:
// inline styles, tables and <img alt>, but no script, <style>, inline <svg> or CSS variable.
package display

import (
	"encoding/base64"
	"maps"
	"strings"
)

// Bundle is one output in several MIME types, as in Jupyter's display_data and execute_result
// messages.
type Bundle struct {
	// Data maps a MIME type to its content: a string for text, base64 text for
	// binary types, any JSON value for JSON types.
	Data map[string]any
	// Metadata maps a MIME type to its metadata, for example image/png to its width and height in
	// CSS pixels.
	Metadata map[string]any
	// ID is the display_id by which the output can be replaced later; it may be empty.
	ID string
}

// String returns the bundle's text/plain, so a bundle prints as the text that it would show.
func (b Bundle) String() string {
	s, _ := b.Data["text/plain"].(string)
	return s
}

// clean returns a copy that owns its maps and can be encoded as JSON: bytes become base64, or a
// string where the type is text.
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

// Sink is the output area of a cell. Its methods may be called from any goroutine, also after the
// cell has ended. They do not retain the bundle's maps.
type Sink interface {
	// Display appends an output.
	Display(Bundle)
	// Update replaces the data of every output whose ID is b.ID; without such an output it does
	// nothing.
	Update(b Bundle)
	// Clear removes the outputs of the cell: at once, or, if wait is set, when the next output
	// arrives.
	Clear(wait bool)
}
