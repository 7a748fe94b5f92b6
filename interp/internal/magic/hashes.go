package magic

import (
	"encoding/json"
	"strings"

	"halfnote/display"
	"halfnote/internal/receipt"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%hashes", Args: "[on|off|against CELL]", Run: runHashes,
		Help: "lists hashes of the tensors that variables hold\n" +
			"Equal hashes mean equal bits, for every reader and on every processor. halfnote run --receipt and halfnote verify use it: after %hashes on\n" +
			"it hashes the result of each operation too, and its output has what was computed since the last %hashes as JSON. With CELL, such a JSON, it lists the differences.",
	})
}

// hashesType is the MIME type of a receipt.Cell, and of a list of the differences from one.
const hashesType = "application/vnd.halfnote.hashes+json"

func runHashes(c *Call) eval.Result {
	word, rest, _ := strings.Cut(c.Args, " ")
	var was receipt.Cell
	switch word {
	case "":
	case "on":
		c.Hashes.On()
		c.Hashes.Take(c.Values())
		c.Hashes.Forget()
		return eval.Result{}
	case "off":
		c.Hashes.Off()
		return eval.Result{}
	case "against":
		if err := json.Unmarshal([]byte(rest), &was); err != nil {
			return c.wrong("%%hashes against: %v; want the JSON of a cell in a receipt", err)
		}
	default:
		return c.wrong("%%hashes %s: want nothing, on, off, or against and the JSON of a cell in a receipt", c.Args)
	}
	cell := c.Hashes.Take(c.Values())
	defer c.Hashes.Forget()
	if word == "against" {
		list := c.Hashes.Against(cell, was)
		b := display.Text(strings.Join(list, "\n"))
		b.Data[hashesType] = list
		return result(b)
	}
	rows := c.Hashes.Table()
	b := display.Text("no variable holds a tensor")
	if len(rows) > 0 {
		b = display.Of(display.Table([]string{"tensor", "dtype and shape", "hash"}, rows))
	}
	b.Data[hashesType] = cell
	return result(b)
}
