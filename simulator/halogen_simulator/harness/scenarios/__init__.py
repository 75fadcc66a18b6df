"""Fork and join patterns that check themselves: each knows what must come of its requests."""
