"""Query parameters that say where a visitor came from or who he is, and never which page is meant."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

__all__ = ["is_noise"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TRACKING = _set(
    "gclid gclsrc dclid gbraid wbraid srsltid _ga _gl fbclid igshid igsh msclkid yclid ysclid _openstat "
    "twclid ttclid li_fat_id mc_cid mc_eid _hsenc _hsmi __hstc __hssc __hsfp hsctatracking mkt_tok "
    "oly_anon_id oly_enc_id vero_id vero_conv wt_mc pk_campaign pk_kwd pk_source pk_medium pk_content "
    "rb_clickid s_cid spm scm"
)
_TRACKING_PREFIXES = ("utm_", "mtm_", "itm_", "internal_", "elq")
_SESSION = _set("jsessionid phpsessid sessionid session_id cfid cftoken zenid oscsid")

# A short `sid` often is a section or story id; only what no person would write is taken for a session.
_RANDOM = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9+/_=-]{16,}")


def is_noise(field: str) -> bool:
    """Whether a query field (`name=value`, as found) is a tracking or a session parameter.

    Names are compared in lower case, escapes decoded. `sid` counts when its value looks random: 16
    characters or more of hex or base64 with a digit among them.
    """
    name, _, value = field.partition("=")
    kind = _kind(name)
    return _RANDOM.fullmatch(unquote(value)) is not None if kind is None else kind


@lru_cache(maxsize=4096)
def _kind(name: str) -> bool | None:
    """True: noise. False: content. None: its value decides."""
    name = unquote(name).lower()
    if name == "sid":
        return None
    return name in _TRACKING or name in _SESSION or name.startswith(_TRACKING_PREFIXES)
