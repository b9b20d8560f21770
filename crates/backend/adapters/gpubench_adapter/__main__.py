"""Runs an adapter from its source folder: python -m gpubench_adapter NAME."""

import sys

from gpubench_adapter import worker

if __name__ == "__main__":
    worker.main(sys.argv[1])
