"""Where a pool is scored, one file each."""
