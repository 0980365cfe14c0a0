"""The threads in which the sockets of this process use the database."""

from django.conf import settings

from common.db_executor import DatabaseExecutor

run_in_db_thread = DatabaseExecutor(settings.SOCKET_THREADS, "realtime")
