"""Talking to models: one protocol, a wire for each kind of server, and the demo model, which is none."""
