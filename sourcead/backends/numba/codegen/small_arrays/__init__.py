"""Small arrays in loops as numbers (`rewrite.py`)."""
