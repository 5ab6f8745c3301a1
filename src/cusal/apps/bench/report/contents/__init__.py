"""The figures and tables in the report of an experiment: functions marked with `@exhibit`, found in every file here."""
