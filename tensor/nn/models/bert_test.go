package models_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// tiny is a BERT that runs quickly.
func tiny() models.BERTConfig {
	return models.BERTConfig{Vocabulary: 30, Hidden: 8, Layers: 2, Heads: 2, Intermediate: 16, Positions: 12, Types: 2, Dropout: 0.1}
}

// TestBERTNames compares parameter names with those in Hugging Face's checkpoints.
func TestBERTNames(t *testing.T) {
	b := models.NewBERTClassifier(tiny(), 3)
	var got []string
	for _, n := range nn.NamedParameters(b) {
		if !strings.Contains(n.Name, "layer.1") {
			got = append(got, n.Name)
		}
	}
	want := strings.Fields(`
		bert.embeddings.word_embeddings.weight bert.embeddings.position_embeddings.weight bert.embeddings.token_type_embeddings.weight
		bert.embeddings.LayerNorm.weight bert.embeddings.LayerNorm.bias
		bert.encoder.layer.0.attention.self.query.weight bert.encoder.layer.0.attention.self.query.bias
		bert.encoder.layer.0.attention.self.key.weight bert.encoder.layer.0.attention.self.key.bias
		bert.encoder.layer.0.attention.self.value.weight bert.encoder.layer.0.attention.self.value.bias
		bert.encoder.layer.0.attention.output.dense.weight bert.encoder.layer.0.attention.output.dense.bias
		bert.encoder.layer.0.attention.output.LayerNorm.weight bert.encoder.layer.0.attention.output.LayerNorm.bias
		bert.encoder.layer.0.intermediate.dense.weight bert.encoder.layer.0.intermediate.dense.bias
		bert.encoder.layer.0.output.dense.weight bert.encoder.layer.0.output.dense.bias
		bert.encoder.layer.0.output.LayerNorm.weight bert.encoder.layer.0.output.LayerNorm.bias
		bert.pooler.dense.weight bert.pooler.dense.bias classifier.weight classifier.bias`)
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	c := tiny()
	c.NoPooler = true
	if n := len(nn.Parameters(models.NewBERTClassifier(c, 3))); n != len(nn.Parameters(b))-2 {
		t.Errorf("without a pooler: got %d parameters", n)
	}
}

// TestBERTPadding checks that padding and its contents do not change the logits.
func TestBERTPadding(t *testing.T) {
	tensor.ManualSeed(1)
	b := models.NewBERTClassifier(tiny(), 2)
	nn.Eval(b)
	short := b.ForwardInput(models.BERTInput{IDs: tensor.FromInts([]int{5, 7, 9}, 1, 3)})
	long := b.ForwardInput(models.BERTInput{
		IDs: tensor.FromInts([]int{5, 7, 9, 0, 11}, 1, 5), Mask: tensor.FromInts([]int{1, 1, 1, 0, 0}, 1, 5), Types: tensor.FromInts([]int{0, 0, 0, 0, 1}, 1, 5),
	})
	if gap := short.Sub(long).Abs().Amax().Item(); !(gap < 1e-6) {
		t.Errorf("padding changes the logits by %v", gap)
	}
	other := b.ForwardInput(models.BERTInput{IDs: tensor.FromInts([]int{5, 7, 9}, 1, 3), Types: tensor.FromInts([]int{0, 1, 1}, 1, 3)})
	if tensor.Equal(short, other) {
		t.Error("token types do not change the result")
	}
	nn.Train(b)
	if tensor.Equal(b.Forward(tensor.FromInts([]int{5, 7, 9}, 1, 3)), short) {
		t.Error("training applies no dropout")
	}
}

func TestLoadBERT(t *testing.T) {
	from, to := models.NewBERT(tiny()), models.NewBERTClassifier(tiny(), 2)
	state := nn.StateDict(from) // names without "bert."
	for name, x := range state {
		if i := strings.Index(name, "LayerNorm.weight"); i >= 0 {
			delete(state, name)
			state[name[:i]+"LayerNorm.gamma"] = x
		}
	}
	state["cls.predictions.bias"] = tensor.Zeros(30)
	fresh, err := models.LoadBERT(to, state)
	if err != nil || !slices.Equal(fresh, []string{"classifier.bias", "classifier.weight"}) {
		t.Errorf("got fresh parameters %v and error %v", fresh, err)
	}
	nn.Eval(from)
	nn.Eval(to)
	ids := tensor.FromInts([]int{5, 7, 9, 2}, 2, 2)
	a, _ := from.ForwardInput(models.BERTInput{IDs: ids})
	b, _ := to.BERT.ForwardInput(models.BERTInput{IDs: ids})
	if !tensor.Equal(a, b) {
		t.Error("the loaded encoder gives another result")
	}
	state["embeddings.word_embeddings.weight"] = tensor.Zeros(1, 2)
	if _, err := models.LoadBERT(to, state); err == nil || !strings.Contains(err.Error(), "bert.embeddings.word_embeddings.weight has shape (1, 2), want (30, 8)") {
		t.Errorf("a wrong shape: got %v", err)
	}
	if _, err := models.LoadBERT(to, map[string]*tensor.Tensor{"x": tensor.Zeros(1)}); err == nil {
		t.Error("state without a matching name: got no error")
	}
}

// TestBERTLearns trains a classifier under autocast with a scaler to detect whether a
// sequence contains a token.
func TestBERTLearns(t *testing.T) {
	tensor.ManualSeed(3)
	c := tiny()
	c.NoPooler = true
	b := models.NewBERTClassifier(c, 1)
	opt := optim.NewAdamW(nn.Parameters(b), 0.01)
	scaler := amp.NewGradScaler()
	g := tensor.NewGenerator(5)
	first, last := 0.0, 0.0
	for step := range 60 {
		ids, labels := g.Randint(3, 12, 16*6).Ints(), make([]float64, 16)
		for i := range ids {
			if i%6 == 0 {
				ids[i] = 1
			} else if ids[i] == 5 {
				labels[i/6] = 1
			}
		}
		var loss *tensor.Tensor
		amp.Autocast(amp.Float16, func() {
			logits := b.ForwardInput(models.BERTInput{IDs: tensor.FromInts(ids, 16, 6)})
			if step == 0 && logits.DType() != tensor.Float16 {
				t.Errorf("got logits in %v, want float16", logits.DType())
			}
			loss = nn.BinaryCrossEntropyWithLogits(logits.Squeeze(1), tensor.New(labels))
		})
		opt.ZeroGrad()
		scaler.Scale(loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		if step < 10 {
			first += loss.Item() / 10
		} else if step >= 50 {
			last += loss.Item() / 10
		}
	}
	if math.IsNaN(last) || last > 0.8*first {
		t.Errorf("the loss went from %v to %v in 60 steps", first, last)
	}
}

func TestBERTMistakes(t *testing.T) {
	b := models.NewBERT(tiny())
	ids := tensor.FromInts(make([]int, 26), 2, 13)
	for want, f := range map[string]func(){
		"tensor: new_bert: Hidden 768, Heads 7":                                         func() { c := models.BERTBase(); c.Heads = 7; models.NewBERT(c) },
		"tensor: bert: shape (26,): IDs have the wrong shape; want (n, t)":              func() { b.Forward(ids.Reshape(26)) },
		"tensor: bert: shape (2, 13): sequences of 13 tokens; want at most 12":          func() { b.Forward(ids) },
		"tensor: bert: shapes (2, 5) and (2, 13): Mask does not have the shape of IDs":  func() { b.ForwardInput(models.BERTInput{IDs: ids.Slice(1, 0, 5), Mask: ids}) },
		"tensor: bert: shapes (2, 5) and (2, 13): Types does not have the shape of IDs": func() { b.ForwardInput(models.BERTInput{IDs: ids.Slice(1, 0, 5), Types: ids}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
