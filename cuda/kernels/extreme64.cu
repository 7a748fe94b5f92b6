// Positions of extremes of elements computed in 64 bits.
#include "extreme.cuh"

EXTREME(double, 2, float64)
EXTREME(i64, 2, int64)
EXTREME(i32, 4, int32)
EXTREME(i16, 4, int16)
EXTREME(i8, 4, int8)
EXTREME(u8, 4, uint8)
EXTREME(flag, 4, bool)
EXTREME_JOINTS(double, float64)
EXTREME_JOINTS(i64, int64)
