"""Reading back: a request, and an answer that fits its limit and says how to go on."""
