"""Keep whole originals elsewhere: private files by default, memory when the disk fails."""
