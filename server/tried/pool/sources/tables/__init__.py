"""Results tables, and the commits that their rows name."""
