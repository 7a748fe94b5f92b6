// Decisions on optimizer steps that the device makes.
#pragma once
#include "common.cuh"

// Count is the row of a tensor that Advance of package driver describes.
struct Count { double steps, taken, rate, scale; };
