"""Make a text smaller and keep it readable: one file per way, one table from kind to shaper."""
