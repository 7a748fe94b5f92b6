// Package experiment has the measurements that mixed precision is taught with, as
// functions: those of Micikevicius et al., "Mixed Precision Training" (ICLR 2018),
// and those of the tutorials.
package experiment
