"""Tools that ask public services: weather, exchange rates, travel guides. None needs a key."""
