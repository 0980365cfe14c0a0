"""Run the tasks that were sent to a worker, in this process."""

import json
from base64 import b64decode

import redis
from django.conf import settings

from worker import tasks


def run_tasks() -> None:
    """Run the sent tasks of the worker as Celery would, without those that its sweeper sends to other apps."""
    client = redis.from_url(settings.REDIS_URL)
    for task in client.lrange("work", 0, -1):
        message = json.loads(task)
        module, name = message["headers"]["task"].rsplit(".", 1)
        if module == tasks.__name__:
            getattr(tasks, name)(*json.loads(b64decode(message["body"]))[0])
    client.delete("work")
