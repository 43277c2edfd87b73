"""The compiler's knowledge of functions: one record for each, entered family by family and looked up in `table.py`."""
