"""Reads images: their size, and a thumbnail."""

import base64
import io
from typing import Any

import pi_heif
from PIL import Image, ImageOps

from files.reading.errors import TooMuchContent

MAX_PIXELS = 50_000_000
MAX_JPEG_PIXELS = 250_000_000
"""Pixels of a JPEG, which is decoded at an eighth of its size."""
THUMBNAIL_PIXELS = 1024
"""The longer side of a thumbnail, which models read, too."""

Image.MAX_IMAGE_PIXELS = None  # the limits are above
pi_heif.register_heif_opener(thumbnails=False)


def read_image(content: bytes) -> dict[str, Any]:
    """Return `width`, `height`, and a `thumbnail` (WebP in base64). Raises `TooMuchContent`, and what Pillow raises."""
    with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP", "GIF", "HEIF")) as image:
        width, height = image.size
        # A JPEG with a second picture in it, as some phones write, has the format MPO.
        if width * height > (MAX_JPEG_PIXELS if image.format in ("JPEG", "MPO") else MAX_PIXELS):
            raise TooMuchContent(f"It has {width} × {height} pixels.")
        # A photo of a camera may be stored on its side: EXIF says so by the orientations 5 to 8.
        if image.getexif().get(0x0112) in (5, 6, 7, 8):
            width, height = height, width
        image.draft("RGB", (THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        upright = ImageOps.exif_transpose(image)
        upright.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        has_alpha = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
        if upright.mode == "I;16":
            # A PNG of 16-bit gray: `convert` alone clips its values at 255. Its transparent value, which has 16 bits, is ignored.
            upright, has_alpha = upright.point(lambda value: value / 256).convert("L"), False
        thumbnail = io.BytesIO()
        # A new image has none of the metadata, such as the place where a photo was taken.
        upright.convert("RGBA" if has_alpha else "RGB").save(thumbnail, "WEBP", quality=80)
    return {"width": width, "height": height, "thumbnail": base64.b64encode(thumbnail.getvalue()).decode()}
