"""What holds for all tests."""

from hypothesis import settings

# An example that waits for a slow disk is no failure: speeds are measured by the bench, never by tests.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
