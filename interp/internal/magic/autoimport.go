package magic

import "halfnote/kernel/eval"

func init() {
	add(Magic{
		Name: "%autoimport", Args: "[on|off]", Run: runAutoImport,
		Help: "with off, packages of the standard library need an import again\n" +
			"By default a cell that says sync.WaitGroup imports sync, and a note says so.",
	})
}

// runAutoImport sets whether cells can use packages of the standard library without an import.
func runAutoImport(c *Call) eval.Result {
	switch c.Args {
	case "on", "":
		c.AutoImport(true)
		return shown("on: packages of the standard library are imported when a cell names them")
	case "off":
		c.AutoImport(false)
		return shown("off: packages need an import")
	}
	return c.wrong("%%autoimport %s: want %%autoimport on or %%autoimport off", c.Args)
}
