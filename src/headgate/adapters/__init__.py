"""One file per framework."""
