// Package ranks runs the cells of one notebook in several processes, the ranks of an MPI program.
//
// [Launch] is the first process, which a front end starts in place of a kernel. It starts the ranks with
// mpiexec, or with the launcher of a cluster, and passes messages between them over TLS. Each rank calls
// [Join]. Rank 0 serves the front end with a [Leader], an evaluator that hands each cell to the other ranks
// before it runs the cell itself; these call [Member.Work].
//
// The messages do not pass through MPI: an interrupt reaches a rank that waits in a collective, and
// the launcher notices a rank that ends. The package does not know MPI itself, nor Go cells.
package ranks
