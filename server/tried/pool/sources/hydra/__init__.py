"""The folders that Hydra leaves of its jobs."""
