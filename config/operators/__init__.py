"""The operators' admin: how it looks, which languages it speaks, what its first page says."""
