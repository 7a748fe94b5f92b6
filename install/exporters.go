package install

import "os/exec"

// exporters lists the entries of JupyterLab's menu "Save and Export Notebook As" that the
// private environment cannot serve by itself. needs are the programs that an entry calls;
// without any, the environment lacks a Python package for it.
var exporters = []struct {
	class string // of nbconvert
	needs []string
}{
	{"ASCIIDocExporter", []string{"pandoc"}},
	{"LatexExporter", []string{"pandoc"}},
	{"PDFExporter", []string{"pandoc", "xelatex"}},
	{"QtPDFExporter", nil},
	{"QtPNGExporter", nil},
	{"RSTExporter", []string{"pandoc"}},
	{"WebPDFExporter", nil},
}

// exporterArgs returns the arguments by which the server does not offer exporters that would fail.
func exporterArgs() []string {
	var args []string
	for _, e := range exporters {
		works := len(e.needs) > 0
		for _, program := range e.needs {
			_, err := exec.LookPath(program)
			works = works && err == nil
		}
		if !works {
			args = append(args, "--"+e.class+".enabled=False")
		}
	}
	return args
}
