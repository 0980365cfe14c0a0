"""The services of files."""

from files.services.contents import enqueue_waiting_files, read_contents
from files.services.deletion import delete_file, delete_orphaned_content, delete_unposted_files
from files.services.posting import post_file, write_file
from files.services.uploads import upload_file

__all__ = [
    "delete_file",
    "delete_orphaned_content",
    "delete_unposted_files",
    "enqueue_waiting_files",
    "post_file",
    "read_contents",
    "upload_file",
    "write_file",
]
