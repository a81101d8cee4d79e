"""Proves that what is installed works: by round trips through it, each of which can fail."""
