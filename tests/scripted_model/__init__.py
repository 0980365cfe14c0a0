"""A fake model: an OpenAI-compatible server whose answers, faults and speed are scripted.

`python -m tests.scripted_model --port N` runs it alone; `ScriptedModel` runs it in a thread of a test.
"""

from tests.scripted_model.server import Recorded, ScriptedModel, overlap

__all__ = ["Recorded", "ScriptedModel", "overlap"]
