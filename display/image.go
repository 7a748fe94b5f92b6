package display

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	"image/png"
	"strings"
)

// PNG returns an output of the bytes of a PNG file, displayed at one CSS pixel per pixel. Data
// that is not a PNG is displayed as an error text.
func PNG(data []byte) Bundle { return withText(picture(data, "")) }

// Image returns an output of img as PNG.
func Image(img image.Image) Bundle {
	if img == nil {
		return Text("display: Image: the image is nil; want an image.Image")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return Text("display: Image: " + err.Error())
	}
	return withText(picture(b.Bytes(), ""))
}

// SVG returns an output of the text of an SVG file. It is an <img>, because inline SVG does not
// survive an untrusted notebook. The file's <title> is its alt text and text/plain.
func SVG(svg string) Bundle {
	words := svgTitle(svg)
	if words == "" {
		words = "SVG picture"
	}
	return Bundle{Data: map[string]any{"text/html": figure(svg, words), "text/plain": words}}
}

// picture returns a PNG with its size, which lets a front end lay it out before decoding it, and
// its alt text if there is one.
func picture(data []byte, alt string) Bundle {
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Text(fmt.Sprintf("display: PNG: %d bytes: %v", len(data), err))
	}
	meta := map[string]any{"width": size.Width, "height": size.Height}
	if alt != "" {
		meta["alt"] = alt
	}
	return Bundle{
		Data:     map[string]any{"image/png": base64.StdEncoding.EncodeToString(data)},
		Metadata: map[string]any{"image/png": meta},
	}
}

// withText adds the size of a picture as its text/plain.
func withText(b Bundle) Bundle {
	if meta, ok := b.Metadata["image/png"].(map[string]any); ok {
		b.Data["text/plain"] = fmt.Sprintf("PNG picture, %d × %d", meta["width"], meta["height"])
	}
	return b
}

func figure(svg, alt string) string {
	return fmt.Sprintf(`<figure style="margin:0"><img alt="%s" src="data:image/svg+xml;base64,%s" /></figure>`,
		html.EscapeString(alt), base64.StdEncoding.EncodeToString([]byte(svg)))
}

// svgTitle returns the text of the first <title>.
func svgTitle(svg string) string {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "title" {
			var s string
			if d.DecodeElement(&s, &e) != nil {
				return ""
			}
			return strings.TrimSpace(s)
		}
	}
}
