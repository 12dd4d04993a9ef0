"""tried: what have I already tried that bears on this experiment?"""

__version__ = "0.1.0"
