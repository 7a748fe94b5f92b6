// Decides on the device whether optimizers take their steps, and counts them.
#include "guard.cuh"
#include "power64.cuh"

// found reports to all threads of the block whether one of n flags is nonzero.
DEVICE bool found(const float *flags, u32 n, i64 stride) {
	bool up = false;
	for (u32 i = THREAD; i < n; i += THREADS) up |= flags[i * stride] != 0;
	return __nvvm_bar0_or(up);
}

// advance updates n counts, one per thread.
KERNEL advance(Count *counts, u32 n, double rate, double beta1, double beta2, const float *flags, u32 length, i64 stride) {
	bool skip = found(flags, length, stride);
	u32 i = BLOCK * THREADS + THREAD;
	if (i >= n) return;
	Count c = counts[i];
	c.taken = !skip;
	if (!skip) {
		c.steps += 1;
		c.rate = rate / (1 - power(beta1, c.steps));
		c.scale = 1 / __builtin_sqrt(1 - power(beta2, c.steps));
	}
	counts[i] = c;
}

// Scale is the state of a GradScaler.
struct Scale { float scale, inverse, clean, overflows; };

// update_scale is run by one block.
KERNEL update_scale(Scale *state, double growth, double backoff, float interval, float hysteresis, float least, float most, const float *flags,
                    u32 length, i64 stride) {
	bool bad = found(flags, length, stride);
	if (THREAD != 0) return;
	Scale s = *state;
	if (bad) {
		s.clean = 0;
		s.overflows += 1;
		if (s.overflows >= hysteresis) s.scale = largest((float)(s.scale * backoff), smallest(s.scale, least));
	} else {
		s.clean += 1;
		if (s.clean == interval) {
			s.clean = s.overflows = 0;
			float higher = smallest((float)(s.scale * growth), largest(s.scale, most));
			if (higher - higher == 0) s.scale = higher;
		}
	}
	s.inverse = (float)(1. / s.scale);
	*state = s;
}
