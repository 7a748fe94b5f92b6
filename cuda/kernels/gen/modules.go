package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing/fstest"
)

// module is a module whose source only instantiates macros.
type module struct {
	name, arch string
	headers    []string
	macros     []string
}

// modules lists the modules that are compiled in addition to the .cu files. gemm_* do not use tensor
// cores; mma_* do. Their operands can be copied in units of 16 bytes, or have any strides (any), or
// have a k of several axes with A contiguous along k (window_k) or along its lines (window_l). The
// number in the names of attention is the largest head size.
var modules = []module{
	{"attention_128_bfloat16", "sm_80", attention, []string{"ATTEND(bf16, 128, 1)", "ATTEND_GRAD(bf16, 128, 32)"}},
	{"attention_128_float16", "sm_80", attention, []string{"ATTEND(f16, 128, 1)", "ATTEND_GRAD(f16, 128, 32)"}},
	{"attention_32_bfloat16", "sm_80", attention, []string{"ATTEND(bf16, 32, 2)", "ATTEND_GRAD(bf16, 32, 64)"}},
	{"attention_32_float16", "sm_80", attention, []string{"ATTEND(f16, 32, 2)", "ATTEND_GRAD(f16, 32, 64)"}},
	{"attention_64_bfloat16", "sm_80", attention, []string{"ATTEND(bf16, 64, 2)", "ATTEND_GRAD(bf16, 64, 64)"}},
	{"attention_64_float16", "sm_80", attention, []string{"ATTEND(f16, 64, 2)", "ATTEND_GRAD(f16, 64, 64)"}},
	{"gemm_bfloat16", "sm_70", simt, []string{"SIMT(gemm_128, bf16, 128, 128, 8)", "SIMT(gemm_64, bf16, 64, 64, 4)", "SLICES(slices, bf16)"}},
	{"gemm_float16", "sm_70", simt, []string{"SIMT(gemm_128, f16, 128, 128, 8)", "SIMT(gemm_64, f16, 64, 64, 4)", "SLICES(slices, f16)"}},
	{"gemm_float32", "sm_70", simt, []string{"SIMT(gemm_128, float, 128, 128, 8)", "SIMT(gemm_64, float, 64, 64, 4)", "SLICES(slices, float)"}},
	{"gemm_float64", "sm_70", simt, []string{"SIMT(gemm_64, double, 64, 64, 4)", "SLICES(slices, double)"}},
	{"gemm_int16", "sm_70", simt, []string{"SIMT(gemm_64, i16, 64, 64, 4)", "SLICES(slices, i16)"}},
	{"gemm_int32", "sm_70", simt, []string{"SIMT(gemm_64, i32, 64, 64, 4)", "SLICES(slices, i32)"}},
	{"gemm_int64", "sm_70", simt, []string{"SIMT(gemm_64, i64, 64, 64, 4)", "SLICES(slices, i64)"}},
	{"gemm_int8", "sm_70", simt, []string{"SIMT(gemm_64, i8, 64, 64, 4)", "SLICES(slices, i8)"}},
	{"gemm_uint8", "sm_70", simt, []string{"SIMT(gemm_64, u8, 64, 64, 4)", "SLICES(slices, u8)"}},
	{"mma_any_bfloat16", "sm_80", mma, []string{"MMA(gathered, 1, bf16)"}},
	{"mma_any_float16", "sm_80", mma, []string{"MMA(gathered, 1, f16)"}},
	{"mma_any_tf32", "sm_80", mma, []string{"MMA(gathered, 1, tf32)"}},
	{"mma_bfloat16", "sm_80", mma, []string{"MMA(pipelined, 2, bf16)"}},
	{"mma_float16", "sm_80", mma, []string{"MMA(pipelined, 2, f16)"}},
	{"mma_tf32", "sm_80", mma, []string{"MMA(pipelined, 2, tf32)"}},
	{"mma_window_k_bfloat16", "sm_80", mma, []string{"WINDOWS(bf16, k, true)"}},
	{"mma_window_k_float16", "sm_80", mma, []string{"WINDOWS(f16, k, true)"}},
	{"mma_window_k_tf32", "sm_80", mma, []string{"WINDOWS(tf32, k, true)"}},
	{"mma_window_l_bfloat16", "sm_80", mma, []string{"WINDOWS(bf16, l, false)"}},
	{"mma_window_l_float16", "sm_80", mma, []string{"WINDOWS(f16, l, false)"}},
	{"mma_window_l_tf32", "sm_80", mma, []string{"WINDOWS(tf32, l, false)"}},
	{"moments_bfloat16", "sm_70", moments, []string{"STATISTICS(bf16, 4, float, bfloat16)"}},
	{"moments_float16", "sm_70", moments, []string{"STATISTICS(f16, 4, float, float16)"}},
	{"moments_float32", "sm_70", moments, []string{"STATISTICS(float, 4, float, float32)"}},
	{"moments_float64", "sm_70", moments, []string{"STATISTICS(double, 2, double, float64)"}},
	{"softmax_bfloat16", "sm_70", softmax, []string{"SOFTMAX(bf16, bfloat16)"}},
	{"softmax_float16", "sm_70", softmax, []string{"SOFTMAX(f16, float16)"}},
	{"softmax_float32", "sm_70", softmax, []string{"SOFTMAX(float, float32)"}},
}

var (
	attention = []string{"attention_grad.cuh", "attention_result.cuh"}
	simt      = []string{"gemm_simt.cuh"}
	mma       = []string{"gemm_mma.cuh"}
	moments   = []string{"moments.cuh"}
	softmax   = []string{"softmax.cuh"}
)

// sources returns the architecture of each module by name, and the sources: the files of the
// kernels' folder and those generated from the table.
func sources(dir string) (archs map[string]string, text fs.FS, err error) {
	files := fstest.MapFS{}
	archs = map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.cu*"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		files[filepath.Base(name)] = &fstest.MapFile{Data: data}
		if module, ok := strings.CutSuffix(filepath.Base(name), ".cu"); ok {
			archs[module] = "sm_70"
		}
	}
	for _, m := range modules {
		if archs[m.name] != "" {
			return nil, nil, fmt.Errorf("module %s is both a file and in the table", m.name)
		}
		archs[m.name] = m.arch
		files[m.name+".cu"] = &fstest.MapFile{Data: []byte(m.source())}
	}
	return archs, files, nil
}

func (m module) source() string {
	var b strings.Builder
	for _, h := range m.headers {
		fmt.Fprintf(&b, "#include %q\n", h)
	}
	for _, macro := range m.macros {
		b.WriteString(macro + "\n")
	}
	return b.String()
}
