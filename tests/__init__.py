"""The tests. A regular package, so that `tests.ground` is ours whatever else is installed."""
