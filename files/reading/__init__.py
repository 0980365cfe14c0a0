"""Reading files in a process of its own."""
