"""Random programs against central differences: `python -m tests.fuzz --examples 1000 --seed 0`."""
