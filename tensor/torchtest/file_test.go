package torchtest

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"halfnote/tensor/data"
)

// fixtures are the contents of a file in testdata.
type fixtures struct {
	torch   string
	cases   []fixture
	tensors map[string]T
}

// fixture is the description of a case.
type fixture struct {
	Name     string
	DTypes   []string
	Double   bool
	Tol      float64
	Operands []struct{ Grad, Cast bool }
}

// op returns the operation under which the case is counted.
func (c fixture) op() string { return strings.TrimRight(strings.Fields(c.Name)[0], ",:") }

func readFixtures(family string) (*fixtures, error) {
	file, err := data.OpenSafetensors(filepath.Join("testdata", family+".safetensors"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f := &fixtures{torch: file.Metadata()["torch"], tensors: map[string]T{}}
	if err := json.Unmarshal([]byte(file.Metadata()["cases"]), &f.cases); err != nil {
		return nil, err
	}
	for _, name := range file.Names() {
		if f.tensors[name], err = file.Tensor(name); err != nil {
			return nil, err
		}
	}
	return f, nil
}
