"""What past experiments mean beside the config that is being edited: the rows of a list of them, where the config
stands among them, what was tried for its keys, and one record in full.
Invariant: pure: no I/O, no clock, no random numbers; the same draft, snapshot, settings and `now` give the same answer.
"""
