"""The papers' tables and figures, ours beside theirs: declared in `papers/*.toml`, run in cells, kept, reported."""
