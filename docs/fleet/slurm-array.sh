#!/usr/bin/env bash
# Measures every GPU that Slurm gives, one per task of an array; slurm-merge.sh joins the reports when all tasks have ended:
#
#   id=$(sbatch --parsable docs/fleet/slurm-array.sh)
#   sbatch --dependency="afterany:$id" docs/fleet/slurm-merge.sh
#
# OUT is the folder for results, which all nodes must see; SWEEP holds the arguments of the sweep.
#SBATCH --job-name=gpubench
#SBATCH --array=0-7
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=00:30:00
#SBATCH --output=gpubench-%A_%a.log
set -euo pipefail

OUT=${OUT:-results/fleet}
SWEEP=${SWEEP:---config quick --require cuda}

# Each task sees its GPU as device 0. SWEEP is several words.
# shellcheck disable=SC2086
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
    gpubench run $SWEEP --quiet --force --out "$OUT/$SLURM_ARRAY_TASK_ID"
