package data_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/quant"
)

// A file with elements of 4 bits, as Python's safetensors writes torch's float4_e2m1fn_x2 and float8_e8m0fnu, becomes a tensor of package quant.
func TestSafetensorsCodes(t *testing.T) {
	header := `{"w":{"dtype":"F4","shape":[1,32],"data_offsets":[0,16]},"s":{"dtype":"F8_E8M0","shape":[1,1],"data_offsets":[16,17]},"odd":{"dtype":"F6_E2M3","shape":[3,4],"data_offsets":[17,26]},"wide":{"dtype":"F32","shape":[1],"data_offsets":[26,30]}}`
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	for i := range 16 {
		file = append(file, byte(i)|byte(15-i)<<4) // codes i and 15-i
	}
	file = append(file, 129) // 2^2
	file = append(file, make([]byte, 13)...)
	path := filepath.Join(t.TempDir(), "codes.safetensors")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := data.OpenSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	codes, err := s.Codes("w")
	if err != nil {
		t.Fatal(err)
	}
	scales, err := s.Tensor("s")
	if err != nil {
		t.Fatal(err)
	}
	q, err := quant.FromStateDict(map[string]*tensor.Tensor{"w_blocks": codes.Reshape(1, 1, 16), "w_scales": scales}, "w", quant.MXFP4)
	if err != nil {
		t.Fatal(err)
	}
	got := q.Dequantize(tensor.Float32).Float64s()
	for i := range 16 {
		for j, c := range []uint8{uint8(i), uint8(15 - i)} {
			if want := 4 * quant.E2M1.Decode(c); got[2*i+j] != want {
				t.Errorf("number %d is %v, want %v", 2*i+j, got[2*i+j], want)
			}
		}
	}
	if odd, err := s.Codes("odd"); err != nil || odd.Shape()[1] != 3 {
		t.Errorf("codes of 6 bits: %v, %v", odd, err)
	}
	if _, err := s.Codes("wide"); err == nil || !strings.Contains(err.Error(), "F32") {
		t.Errorf("codes of float32: %v", err)
	}
}
