package display

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// PNG returns an output of the bytes of a PNG file, displayed at one CSS pixel per pixel. Data
// that is not a PNG is displayed as an error text.
func PNG(data []byte) Bundle { return withText("PNG", picture("PNG", data, "")) }

// JPEG returns an output of the bytes of a JPEG file, displayed at one CSS pixel per pixel. Data
// that is not a JPEG is displayed as an error text.
func JPEG(data []byte) Bundle { return withText("JPEG", picture("JPEG", data, "")) }

// Image returns an output of img as PNG.
func Image(img image.Image) Bundle {
	if img == nil {
		return Text("display: Image: the image is nil; want an image.Image")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return Text("display: Image: " + err.Error())
	}
	return PNG(b.Bytes())
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

// configs reads the sizes of pictures by the name of their format.
var configs = map[string]func(io.Reader) (image.Config, error){"PNG": png.DecodeConfig, "JPEG": jpeg.DecodeConfig}

// picture returns a picture with its size, which lets a front end lay it out before decoding it, and
// its alt text if there is one.
func picture(format string, data []byte, alt string) Bundle {
	size, err := configs[format](bytes.NewReader(data))
	if err != nil {
		return Text(fmt.Sprintf("display: %s: %d bytes: %v", format, len(data), err))
	}
	meta := map[string]any{"width": size.Width, "height": size.Height}
	if alt != "" {
		meta["alt"] = alt
	}
	mime := mimeOf(format)
	return Bundle{
		Data:     map[string]any{mime: base64.StdEncoding.EncodeToString(data)},
		Metadata: map[string]any{mime: meta},
	}
}

// mimeOf returns the MIME type of pictures of a format.
func mimeOf(format string) string { return "image/" + strings.ToLower(format) }

// withText adds the size of a picture as its text/plain.
func withText(format string, b Bundle) Bundle {
	if meta, ok := b.Metadata[mimeOf(format)].(map[string]any); ok {
		b.Data["text/plain"] = fmt.Sprintf("%s picture, %d × %d", format, meta["width"], meta["height"])
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
