"""SQL over one result, in a process that can reach nothing else."""
