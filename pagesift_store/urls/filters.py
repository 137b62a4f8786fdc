"""URLs that are not worth a fetch: files that cannot become text, and the marks of a crawler trap."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pagesift_store.errors import Refusal

if TYPE_CHECKING:
    from pagesift_store.urls.reading import WebUrl

__all__ = ["EXTENSIONS", "MAX_SEGMENTS", "refusal"]

MAX_SEGMENTS = 20
"""Most path segments of a URL; empty ones do not count."""

_EXTENSION_GROUPS = {
    "images": (
        "apng avif bmp cr2 cur dng emf eps gif heic heif ico icns jfif jp2 jpe jpeg jpg jxl nef pbm pcx "
        "pgm png pnm ppm psd raw svg svgz tga tif tiff webp wmf xbm xcf xpm"
    ),
    "audio": (
        "aac aif aiff amr ape au flac m3u m3u8 m4a m4b mid midi mka mp2 mp3 mpa oga ogg opus ra ram snd "
        "wav weba wma"
    ),
    "video": (
        "3g2 3gp asf avi divx f4v flv m2ts m2v m4v mkv mov mp4 mpe mpeg mpg mts ogv qt rm rmvb swf ts "
        "vob webm wmv"
    ),
    "archives": (
        "7z ace arj br bz2 cab cpio gz lha lz lz4 lzh lzma rar sit sitx tar tbz tbz2 tgz txz xz z zip "
        "zipx zst"
    ),
    "fonts": ("eot fon otf pfb ttc ttf woff woff2"),
    "scripts and styles": ("css js jsx less map mjs sass scss tsx wasm"),
    "programs, packages, disk images, raw data": (
        "apk appimage bin class crx dat deb dex dll dmg dump elf exe img ipa iso jar lib msi msix o obj "
        "pdb pkg pyc pyd qcow2 rpm so sys toast vdi vhd vhdx vmdk war whl xpi"
    ),
    "data that only its own program reads": (
        "3ds accdb blend dbf dwg dxf fbx glb gltf hdf5 mdb mobi npy npz parquet pickle pkl shp skp "
        "sqlite stl torrent"
    ),
}

EXTENSIONS = frozenset(name for names in _EXTENSION_GROUPS.values() for name in names.split())
"""File name extensions, in lower case, of what cannot become text."""

# Each decoding of `%2525xx` changes it, three times over: escaped more than twice.
_NESTED = re.compile(r"%25(?:25)+[0-9A-Fa-f]{2}")
# `&amp;amp;`, raw or escaped. A single `&amp;` is a harmless mistake of one page.
_AMP_CHAIN = re.compile(r"amp(?:;|%3b)(?:&|%26)?amp(?:;|%3b)", re.IGNORECASE)
_REPEATS = 3
# One segment that often in a row, whatever number of slashes between; `++`, since no part of a segment will do.
_REPEATED_SEGMENT = re.compile(r"/([^/]++)/+\1/+\1(?![^/])")


def refusal(web: WebUrl) -> Refusal | None:
    """Why a URL is not worth a fetch; None when nothing speaks against it.

    Returns:
        `EXTENSION`, `TOO_DEEP` (more than `MAX_SEGMENTS`), `REPEATED_SEGMENT` (one segment three times in a
        row), `SEGMENT_CYCLE` (a run of two or more segments three times in a row), `NESTED_ESCAPES` (more
        than twice) or `AMP_CHAIN`; the first that holds, in this order.
    """
    url, path = web.url, web.path
    if "." in path and _has_refused_extension(path):
        return Refusal.EXTENSION
    slashes = path.count("/")
    if slashes >= 2 * _REPEATS:  # so many can be too deep or a cycle, fewer only repeat one segment
        found = _path_refusal(list(filter(None, path.split("/"))))
        if found is not None:
            return found
    elif slashes >= _REPEATS and _REPEATED_SEGMENT.search(path):
        return Refusal.REPEATED_SEGMENT
    # Single signs are found fastest, and few links have one of these.
    return _escape_refusal(url) if "%" in url or ";" in url else None


def _escape_refusal(url: str) -> Refusal | None:
    if "%2525" in url and _NESTED.search(url):
        return Refusal.NESTED_ESCAPES
    return Refusal.AMP_CHAIN if _AMP_CHAIN.search(url) else None


def _has_refused_extension(path: str) -> bool:
    name = path.rpartition("/")[2].partition(";")[0]
    stem, dot, extension = name.rpartition(".")
    # `/wiki/File:Map.png` is a wiki's page about a file; file servers use no colons.
    return bool(dot and stem) and extension.lower() in EXTENSIONS and ":" not in stem


def _path_refusal(segments: list[str]) -> Refusal | None:
    if len(segments) > MAX_SEGMENTS:
        return Refusal.TOO_DEEP
    if len(segments) - len(set(segments)) < _REPEATS - 1:
        return None
    if _cycles(segments, 1):
        return Refusal.REPEATED_SEGMENT
    if any(_cycles(segments, period) for period in range(2, len(segments) // _REPEATS + 1)):
        return Refusal.SEGMENT_CYCLE
    return None


def _cycles(segments: list[str], period: int) -> bool:
    """Whether a run of `period` segments stands `_REPEATS` times in a row.

    That is so when, for long enough in a row, each segment equals the one `period` places on.
    """
    needed = period * (_REPEATS - 1)
    equal = 0
    for here, ahead in zip(segments, segments[period:], strict=False):
        equal = equal + 1 if here == ahead else 0
        if equal == needed:
            return True
    return False
