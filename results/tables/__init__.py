"""The tables of README.md and docs/, each made from the files in results/."""
