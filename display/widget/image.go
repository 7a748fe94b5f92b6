package widget

import (
	"encoding/base64"
	"fmt"

	"halfnote/display"
)

// Image is a widget with a picture. Changing the picture does not flicker.
type Image struct{ *control }

// NewImage returns an image widget that shows v, as [Image.Show] does. It is ipywidgets' Image.
func NewImage(v any, options ...Option) *Image {
	w := &Image{newControl("Image", options, nil)}
	w.Show(v)
	return w
}

// Show replaces the picture. v is the bytes of a PNG, or a value that is displayed as a picture,
// such as a chart or an image.Image. Show panics if v is neither.
func (w *Image) Show(v any) {
	if b, ok := v.([]byte); ok {
		w.model.set(traits{"value": b})
		return
	}
	b := display.Of(v)
	text, ok := b.Data["image/png"].(string)
	if !ok {
		panic(fmt.Sprintf("widget: Image: a %T has no picture; want the bytes of a PNG or a value that is shown as one", v))
	}
	png, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(fmt.Sprintf("widget: Image: the picture of a %T is not base64: %v", v, err))
	}
	values := traits{"value": png}
	if size, ok := b.Metadata["image/png"].(map[string]any); ok {
		if v := size["width"]; v != nil {
			values["width"] = fmt.Sprint(v)
		}
		if v := size["height"]; v != nil {
			values["height"] = fmt.Sprint(v)
		}
	}
	w.model.set(values)
}
