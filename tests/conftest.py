"""What all tests need of the process that they run in."""

import os
import signal

# The models of the tests are tiny: threads that wait for each other would take longer than the work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that starts pytest in the background lets it ignore Ctrl-C, and with it every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
