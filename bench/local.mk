# Benchmarks.  None yet: each comes with its recipe.
