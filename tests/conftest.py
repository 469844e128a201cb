"""What holds for all tests."""

import os
import signal

from hypothesis import settings

# Who starts the tests in the background has interrupts ignored, and every program that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# An example that waits for a slow disk is no failure: speeds are measured by the bench, never by tests. CI tries the same
# examples each time; everybody else tries others in each run.
settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("untimed")
