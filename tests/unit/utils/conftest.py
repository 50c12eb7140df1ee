"""Property tests without a time limit for each example: the machines of a test run are shared."""

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
