"""Bytes of a web page as text, by the order of precedence that browsers use."""

from __future__ import annotations

import codecs
import re

__all__ = ["decode"]

META_BYTES = 4096
"""How far a `<meta charset>` is looked for. The standard stops at 1024; real pages have it later."""

_HEADER = re.compile(r"""(?i)charset\s*=\s*["']?\s*([^\s"';,]+)""")
_META = re.compile(
    rb"""(?i)<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)|<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)"""
)
_COMMENT = re.compile(rb"(?s)<!--.*?-->")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# The labels of the WHATWG encoding standard that pages use, under the codec that reads them as browsers do. A
# list of our own, because Python also answers to names such as utf-7, idna or zip, which no page may choose.
_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16 utf-16le unicode ucs-2",
    "utf-16-be": "utf-16be",
    "cp1252": "windows-1252 cp1252 iso-8859-1 iso8859-1 iso_8859-1 latin1 latin-1 l1 ascii us-ascii",
    "cp1254": "windows-1254 cp1254 iso-8859-9 iso8859-9 latin5",
    "cp874": "windows-874 tis-620 iso-8859-11",
    "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms_kanji",
    "cp949": "euc-kr windows-949 ks_c_5601-1987 ksc5601 korean",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 x-gbk chinese",
    "big5hkscs": "big5 big5-hkscs x-x-big5",
    "iso8859-8": "iso-8859-8 iso-8859-8-i hebrew",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic",
    **{f"iso8859-{n}": f"iso-8859-{n} iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 10, 13, 14, 15, 16)},
    **{f"cp{page}": f"windows-{page} cp{page}" for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
    **{name: name for name in ("koi8-r", "koi8-u", "euc-jp", "iso-2022-jp")},
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}


def decode(content: bytes, content_type: str = "") -> str:
    """Decode by byte order mark, header, meta element, else as UTF-8 and, where it is none, as windows-1252.

    Args:
        content: the body as received, decompressed.
        content_type: the Content-Type header as sent; empty when there is none.

    Returns:
        The text, without byte order mark. What the encoding does not know becomes U+FFFD; nothing raises.
    """
    for mark, codec in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(codec, "replace")
    header = _HEADER.search(content_type)
    declared = header and _CODECS.get(header[1].lower())
    if declared := declared or _meta_codec(content[:META_BYTES]):
        return content.decode(declared, "replace")
    try:
        # Incremental, because a fetcher's size limit may have cut the last character in two.
        return codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _meta_codec(start: bytes) -> str | None:
    for found in _META.finditer(_COMMENT.sub(b"", start)):
        codec = _CODECS.get((found[1] or found[2]).decode("ascii", "replace").lower())
        if codec is not None:
            # Bytes in which this element can be read are not UTF-16, whatever it says.
            return "utf-8" if codec.startswith("utf-16") else codec
    return None
