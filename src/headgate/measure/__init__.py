"""How big is it: text to tokens, characters, bytes and lines, offline."""
