"""What happens to a history before it is sent: repair, and what the later steps stand on."""
