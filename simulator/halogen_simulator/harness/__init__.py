"""An agent program for any server: transcripts, sessions that fork, tools, ready scenarios."""
