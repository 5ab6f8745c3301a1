"""The file formats of a pool, one file each."""
