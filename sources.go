package main

import "embed"

// sources holds the packages that cells can use, for the source that "name??" shows: an installed
// program has no checkout.
//
//go:embed amp/*.go amp/apex/*.go amp/diagnose/*.go amp/experiment/*.go amp/fp8/*.go amp/roofline/*.go amp/trace/*.go
//go:embed cuda/*.go display/*.go display/chart/*.go display/widget/*.go
//go:embed dist/*.go notebooks/exercise/*.go
//go:embed tensor/*.go tensor/autograd/*.go tensor/data/*.go tensor/driver/*.go tensor/nn/*.go tensor/nn/models/*.go tensor/optim/*.go tensor/quant/*.go
var sources embed.FS
