"""What the pool knows of each parameter, in columns: key → value → the runs that had it and how they ended."""
