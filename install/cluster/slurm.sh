#!/bin/bash
# Runs a notebook on the ranks of a Slurm allocation: sbatch slurm.sh train.ipynb
# The first node runs rank 0, and the program that starts the others with srun. All nodes see the notebook and halfnote at the same
# paths. MPI must know PMIx: srun --mpi=list shows what the cluster has.
#SBATCH --job-name=halfnote
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@60
set -euo pipefail
notebook=${1:?sbatch slurm.sh NOTEBOOK}
# The MPI library of the cluster, if it is not the one of mpiexec on PATH:
# export HALFNOTE_MPI=/opt/mpi/lib/libmpi.so.40
exec halfnote run "$notebook" --ranks "$SLURM_NTASKS" --launcher "srun --mpi=pmix --distribution=block" --output "${notebook%.ipynb}.$SLURM_JOB_ID.ipynb"
