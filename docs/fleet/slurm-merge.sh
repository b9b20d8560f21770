#!/usr/bin/env bash
# Joins the reports that the tasks of slurm-array.sh have left; tasks that failed to start have left none.
#SBATCH --job-name=gpubench-merge
#SBATCH --ntasks=1
#SBATCH --time=00:05:00
#SBATCH --output=gpubench-merge-%j.log
set -euo pipefail

OUT=${OUT:-results/fleet}

gpubench merge "$OUT"/*/report.json --force --out "$OUT/fleet.json"
gpubench show "$OUT/fleet.json"
