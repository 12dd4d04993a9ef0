"""Servers of MLflow and W&B: off by default, from the user's own settings alone, fetched in the background."""
