"""The papers' tables and figures, ours beside theirs.

`papers/000-table-3.toml` is Table 3 of paper 000: its data sets, algorithms and printed values. On the way from there:

- `declarations` reads and checks the files, `planning` makes a job for each data set, algorithm and seed;
- `games` play the jobs, `running` runs them in parallel, `cache` keeps those that have finished;
- `results` puts the means over seeds beside the paper's values, `tables`, `report` and `charts` show them.
"""
