"""What several trackers' sources share: keeping up with run folders, logs, and reading files that others wrote."""
