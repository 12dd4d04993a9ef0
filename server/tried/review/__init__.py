"""What people do with a pool: select runs, write down why they ended, see what repetition has cost.

Invariant: everything here is a pure function of runs, records and texts: no file, no clock, no random numbers.
"""
