"""Experiments of DVC, which are commits in git."""
