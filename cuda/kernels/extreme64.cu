// Positions of extremes of elements computed in 64 bits. A thread takes at most two columns: the
// elements and positions of four would not fit in registers.
#include "extreme.cuh"

EXTREME(double, 2, float64)
EXTREME(i64, 2, int64)
EXTREME(i32, 2, int32)
EXTREME(i16, 2, int16)
EXTREME(i8, 2, int8)
EXTREME(u8, 2, uint8)
EXTREME(flag, 2, bool)
EXTREME_JOINTS(double, float64)
EXTREME_JOINTS(i64, int64)
