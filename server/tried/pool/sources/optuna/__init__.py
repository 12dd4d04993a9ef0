"""Optuna's storages: databases and journal files."""
