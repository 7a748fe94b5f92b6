package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	dir := os.Getenv("DUMP")
	for _, s := range samples() {
		if spec := s.fig.VegaLite(); spec != nil {
			b, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(s.name, err)
			}
			os.WriteFile(filepath.Join(dir, s.name+".json"), b, 0o666)
			os.WriteFile(filepath.Join(dir, s.name+".png"), s.fig.PNG(), 0o666)
		}
	}
}
