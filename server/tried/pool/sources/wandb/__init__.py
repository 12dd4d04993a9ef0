"""The run folders and logs that W&B keeps on disk."""
