"""What holds for all tests."""

import signal

from hypothesis import settings

# Who starts the tests in the background has interrupts ignored, and every program that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# An example that waits for a slow disk is no failure: speeds are measured by the bench, never by tests.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
