"""What all tests need of the process that they run in."""

import signal

# A shell that starts pytest in the background lets it ignore Ctrl-C, and with it every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
