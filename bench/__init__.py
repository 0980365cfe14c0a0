"""Measures what an installation costs: `python -m bench [ROW …] [--quick]`.

Each row is measured on a real installation (launcher, PostgreSQL, Valkey, web and worker) with a scripted model on the
loopback, beside a floor that is measured in the same run. All processes share one machine, so only the CPU per unit can be
compared with that of another machine.
"""
