"""The chat database of a project: one SQLite file, opened once."""
