package display

import (
	"html"
	"regexp"
	"strings"
)

// HTML returns an output of HTML; its text/plain is the text without the tags. In an untrusted
// notebook JupyterLab keeps tables, <img alt> and inline styles with literal colours, and drops
// script, <style>, inline <svg> and CSS variables.
func HTML(s string) Bundle {
	return Bundle{Data: map[string]any{"text/html": s, "text/plain": htmlText(s)}}
}

var (
	htmlUnseen = regexp.MustCompile(`(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>`)
	htmlAlt    = regexp.MustCompile(`(?is)<img\b[^>]*?\balt="([^"]*)"[^>]*>`)
	htmlBreak  = regexp.MustCompile(`(?i)<(?:br|/p|/div|/tr|/li|/h[1-6]|/caption|/figcaption|/table|/pre|/blockquote)\b[^>]*>`)
	htmlCell   = regexp.MustCompile(`(?i)</t[dh]\s*>`)
	htmlTag    = regexp.MustCompile(`(?s)</?[a-zA-Z][^>]*>`)
	htmlSpace  = regexp.MustCompile(`[ \t]+\n`)
	htmlLines  = regexp.MustCompile(`\n{3,}`)
)

// htmlText returns the text of s for a reader without a browser.
func htmlText(s string) string {
	s = htmlUnseen.ReplaceAllString(s, "")
	s = htmlAlt.ReplaceAllString(s, "$1")
	s = htmlCell.ReplaceAllString(s, "  ")
	s = htmlBreak.ReplaceAllString(s, "\n")
	s = html.UnescapeString(htmlTag.ReplaceAllString(s, ""))
	s = htmlSpace.ReplaceAllString(s+"\n", "\n")
	return strings.TrimSpace(htmlLines.ReplaceAllString(s, "\n\n"))
}
