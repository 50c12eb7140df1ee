"""Measurements of the product on real parts; each module prints a table and can write it into docs/benchmarks.md."""
