"""The JSON calls, one file for each subject."""
