"""The figures and tables in the report of an experiment: functions marked with `@block`, found in every file here."""
