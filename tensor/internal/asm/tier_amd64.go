//go:build amd64 && !purego

package asm

import "golang.org/x/sys/cpu"

// detect returns the supported tiers in the order of their speed. On AMD's Zen 4 and 5, VDPBF16PS has
// the throughput of a fused multiply-add, two per cycle, and does twice the work. On Intel's Emerald
// Rapids the throughput is one in two cycles, so that widening to float32 is twice as fast there.
func detect() (list []*Tier) {
	const f16c = 1 << 29
	x := cpu.X86
	tileState = "the processor has no AVX-512"
	_, _, leaf1, _ := cpuid(1, 0)
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		plain := &Tier{
			Name: "avx512", Rows: 14, Cols: 32, F32: avx512F32[:], BF16: avx512Blocks[:], Direct: avx512Direct[:], Turned: avx512Turned[:],
			Packs: &Packs{
				F32:  Packing{copyF32x16, copyF32x32, transposeF32, nil, gatherF32, gatherEvensF32, turnF32, false, false, slideF32, dotsF32[:]},
				F16:  Packing{copyF16x16, copyF16x32, transposeF16, nil, gatherF16, gatherEvensF16, turnF16, false, false, slideF16, dotsF16[:]},
				BF16: Packing{copyBF16x16, copyBF16x32, transposeBF16, nil, gatherBF16, gatherEvensBF16, turnBF16, false, false, slideBF16, dotsBF16[:]},
			},
			Loops: Loops{
				widenF16, widenBF16, narrowF16, narrowBF16,
				add, sub, mul, div, addScaled, scale, affine, relu, reluGrad, sqrt,
				neg, abs, tanhGrad, sigmoidGrad,
				largest, largest16, sumLanes, adam, avx512Count16, avx512Count32, stream, fence, fetch, splitBF16, encodeBlocks, largestOfBlocks, rangesOfBlocks, integerBlocks, decodeBlocks, decodeIntegerBlocks, pack4, unpack4, pack6, unpack6,
			},
			Functions: avx512Functions[:], Float16Functions: avx512Float16Functions[:], BFloat16Functions: avx512BFloat16Functions[:], Most: largestOf, Dropped: dropped, Twist: twist, Below: drawBelow,
			Norms: Norms{rowKernels, rowKernelsF16, rowKernelsBF16, copyRows, spreadRows},
			Selects: Selects{
				maximumOf, minimumOf, equalOnes, lessOnes, lessEqualOnes, whereNot0,
				maximumOfRows, minimumOfRows, widenBool, narrowBool, repeatRows2, repeatRows4,
				firstMost, firstLeast, firstMostRow, firstLeastRow, gatherRows, transpose2, transposeF32, weave,
				rowsAdd, rowsAddRow, rowsSub, rowsSubRow, rowsMul, rowsMulRow, rowsDiv, rowsDivRow,
			},
			Float16: float16Passes, BFloat16: bfloat16Passes,
		}
		list = append(list, plain)
		if x.HasAVX512BF16 {
			packs := *plain.Packs
			packs.BF16 = Packing{copyPairsx16, copyPairsx32, transposePairs, copyLinesPairs, gatherPairs, gatherEvensPairs, turnPairs, true, false, slideBF16, dotsBF16[:]}
			t := *plain
			t.Name, t.BF16, t.Pairs, t.Packs = "avx512bf16", avx512Pairs[:], true, &packs
			t.Windows = [][]Windows{nil, windows1[:], windows2[:]}
			list = append(list, &t)
			if _, b, c, d := cpuid(0, 0); b == 0x68747541 && d == 0x69746e65 && c == 0x444d4163 { // AuthenticAMD
				list[0], list[1] = &t, plain
			}
		}
		if tileState = tilesUsable(); tileState == "" {
			list = append([]*Tier{withTiles(list[0], amxTiles)}, list...)
		}
	}
	if x.HasAVX2 && x.HasFMA && leaf1&f16c != 0 {
		list = append(list, &Tier{Name: "avx2", Rows: 6, Cols: 16, F32: avx2F32[:], BF16: avx2Blocks[:], Packs: &Packs{
			F32:  Packing{Copy16: avx2CopyF32, Transpose: avx2TransposeF32, Whole: true},
			F16:  Packing{Copy16: avx2CopyF16, Transpose: avx2TransposeF16, Whole: true},
			BF16: Packing{Copy16: avx2CopyBF16, Transpose: avx2TransposeBF16, Whole: true},
		}, Functions: avx2Functions[:], Most: largestOf, Dropped: dropped, Twist: twist, Below: drawBelow, Loops: Loops{
			avx2WidenF16, avx2WidenBF16, avx2NarrowF16, avx2NarrowBF16,
			avx2Add, avx2Sub, avx2Mul, avx2Div, avx2AddScaled, avx2Scale, avx2Affine, avx2Relu, avx2ReluGrad, avx2Sqrt,
			avx2Neg, avx2Abs, avx2TanhGrad, avx2SigmoidGrad,
			avx2Largest, avx2Largest16, avx2SumLanes, avx2Adam, avx2Count16, avx2Count32, avx2Stream, fence, fetch, nil, avx2EncodeBlocks, avx2LargestOfBlocks, avx2RangesOfBlocks, avx2IntegerBlocks, avx2DecodeBlocks, avx2DecodeIntegerBlocks, pack4, unpack4, pack6, unpack6,
		}, Float16: avx2Float16Passes, BFloat16: avx2BFloat16Passes})
	}
	return list
}

// withTiles returns a tier of AVX-512 that computes large products of bfloat16 by tiles.
func withTiles(base *Tier, tiles Tiles) *Tier {
	t, packs := *base, *base.Packs
	packs.Tiles = Packing{copyNeighboursx16, copyNeighboursx32, transposeNeighbours, nil, gatherNeighbours, gatherEvensNeighbours, turnNeighbours, true, false, slideBF16, dotsBF16[:]}
	packs.TileRows = copyTiles
	t.Name, t.Tiles, t.Packs, t.Windows = "amx", tiles, &packs, nil
	return &t
}

// WithTiles returns the first of [Tiers] with the given function for tiles, for tests on processors
// without AMX. It returns nil if that tier does not use AVX-512.
func WithTiles(tiles Tiles) *Tier {
	if len(tiers) == 0 || tiers[0].Packs.F32.Gather == nil {
		return nil
	}
	return withTiles(tiers[0], tiles)
}

// tilesUsable returns the reason why AMX's tiles cannot be used, or "" if they can.
func tilesUsable() string {
	const osxsave, states = 1 << 27, 3 << 17
	_, _, leaf1, _ := cpuid(1, 0)
	switch x := cpu.X86; {
	case !x.HasAMXTile || !x.HasAMXBF16:
		return "the processor has no AMX for bfloat16"
	case leaf1&osxsave == 0 || xgetbv()&states != states:
		return "the operating system does not save AMX's tiles"
	}
	return permitTiles()
}
