"""Measures what an installation costs: `python -m bench [ROW …] [--quick]`.

Each row is measured on a real installation (the launcher, PostgreSQL, Valkey, web and worker) with a scripted model on
the loopback, beside a floor taken in the same run. All of it shares one machine; so the CPU per unit that stands beside
the times is what carries to another one.
"""
