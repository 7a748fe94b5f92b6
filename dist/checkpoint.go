package dist

import (
	"errors"

	"halfnote/tensor/data"
)

// Save writes a checkpoint once, on rank 0, with data.Save, and returns on all ranks when it is written. state is whole on every
// rank, so that data.Load resumes on another number of ranks:
//
//	err := dist.Save("run.safetensors", map[string]any{
//		"model":     dist.StateDict(model),
//		"optimizer": dist.OptimizerStateDict(model, opt), // or opt.StateDict() of a ZeroRedundancyOptimizer
//		"scaler":    scaler.StateDict(),
//		"random":    dist.RandomState(),
//		"epoch":     epoch, // for the sampler's SetEpoch
//	})
//
// All ranks call those functions and Save. If rank 0 cannot write the file, all ranks return its
// error; an older file stays as it was.
func Save(path string, state map[string]any) error { return member("Save").Save(path, state) }

func (g *group) Save(path string, state map[string]any) error {
	var err error
	text := ""
	if g.rank == 0 {
		if err = data.Save(path, state); err != nil {
			text = err.Error()
		}
	}
	if texts := g.gatherText("Save", text+" "); err == nil && texts[0] != " " {
		err = errors.New(texts[0][:len(texts[0])-1])
	}
	return err
}

// Load reads a checkpoint on every rank, with data.Load, and checks that all ranks have read one. All ranks call it.
func Load(path string) (map[string]any, error) { return member("Load").Load(path) }

func (g *group) Load(path string) (map[string]any, error) {
	state, err := data.Load(path)
	text := ""
	if err != nil {
		text = err.Error()
	}
	for _, other := range g.gatherText("Load", text+" ") {
		if other != " " && err == nil {
			state, err = nil, errors.New(other[:len(other)-1]+"; on another rank")
		}
	}
	return state, err
}
