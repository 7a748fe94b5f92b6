package kernels

// Sizes of tiles of the attention kernels: rows of a gradient, and keys of a result.
const (
	AttentionGradRows = 64
	attentionKeys     = 32
)

// AttentionRows returns the rows of a result that a block of attend computes, for a head size of 32,
// 64 or 128.
func AttentionRows(head int) int {
	if head == 128 {
		return 64
	}
	return 128
}

// AttentionShared returns the bytes of shared memory that a launch gives to attend: tiles of keys and
// values, twice.
func AttentionShared(head int) int { return 4 * attentionKeys * head * 2 }

// AttentionGradShared returns the bytes of shared memory that a launch gives to queries and keys, the
// kernels of gradients: two tiles of rows, two streamed tiles, twice, and for keys two tables of the
// streamed rows.
func AttentionGradShared(head int) (queries, keys int) {
	stream := 64
	if head == 128 {
		stream = 32
	}
	queries = (2*AttentionGradRows + 4*stream) * head * 2
	return queries, queries + 2*(2+AttentionGradRows/32)*stream*4
}

// WindowedShared returns the bytes of shared memory that a launch gives to a kernel windowed_MxN for
// elements of the given size: stages of panels, and of tables of positions.
func WindowedShared(m, n, size int) int {
	stages := 4
	if 48*1024/64/(m+n) < 4 {
		stages = 3
	}
	return stages * ((m+n)*64 + 2*4*64/size)
}
