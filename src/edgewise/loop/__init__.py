"""The online loop: one game, the rules that play it, and what it remembers."""
