"""The same functions in other frameworks: their gradients must be ours. A peer that is not installed is skipped."""
