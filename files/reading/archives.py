"""Opens office files, which are ZIP archives."""

import io
import zipfile

from files.reading.errors import NeedsPassword, TooMuchContent

MAX_UNPACKED_BYTES = 200 * 1024**2
MAX_COMPRESSION = 200
"""How much larger an unpacked office file may be than the packed one, when it unpacks to more than `UNCHECKED_UNPACKED_BYTES`."""
UNCHECKED_UNPACKED_BYTES = 10 * 1024**2


def open_archive(content: bytes) -> zipfile.ZipFile:
    """Return an office file as an archive whose names are what the format asks for: some programs write backslashes.

    Raises `TooMuchContent` if it unpacks to very much, `NeedsPassword`.
    """
    archive = zipfile.ZipFile(io.BytesIO(content))
    infos = archive.infolist()
    unpacked = sum(info.file_size for info in infos)
    is_compressed_too_much = unpacked > UNCHECKED_UNPACKED_BYTES and unpacked > MAX_COMPRESSION * len(content)
    if unpacked > MAX_UNPACKED_BYTES or is_compressed_too_much:
        raise TooMuchContent(f"It unpacks to {unpacked:,} bytes.")
    if any(info.flag_bits & 1 for info in infos):
        raise NeedsPassword
    if all(_normalize_name(info.filename) == info.filename for info in infos):
        return archive
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as renamed:
        for info in infos:
            if not info.is_dir():
                renamed.writestr(_normalize_name(info.filename), archive.read(info))
    return zipfile.ZipFile(out)


def _normalize_name(name: str) -> str:
    name = name.replace("\\", "/").removeprefix("/")
    return "[Content_Types].xml" if name.lower() == "[content_types].xml" else name
