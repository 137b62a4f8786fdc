"""HTML as a `Page`: title, headings, main text and links, out of whatever bytes a server sent.

One walk over the tree that a browser would build, linear in its size and without recursion, so that nesting
and breakage cost no more than their bytes. Needs the extra `html`: `pip install pagesift-store[html]`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pagesift_store.charset import decode
from pagesift_store.records import FoundLink, Page

try:
    from selectolax.lexbor import LexborHTMLParser, LexborNode
except ImportError as error:  # pragma: no cover - a test removes the package to get here
    raise ImportError("pagesift_store.html needs selectolax: pip install pagesift-store[html]") from error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["parse_page"]

CONTEXT_CHARS = 400
"""Longest context of a link, and longest anchor: an unclosed `<a>` would else take the rest of the page."""
MAX_DEPTH = 5_000
"""Containers open at once, above which the rest of a page is not read: the parser is quadratic in it."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HEADINGS = _names("h1 h2 h3 h4 h5 h6")
_PRE = _names("listing plaintext pre xmp")
_SECTIONS = _names("article main section")
_TABLE = _names("caption table tbody tfoot thead tr")
_LISTS = _names("dd dir dl dt li menu ol ul")
_OTHERS = _names(
    "address aside blockquote body center details dialog div fieldset figcaption figure footer form header "
    "hgroup hr legend nav p search summary"
)
_BLOCKS = _HEADINGS | _PRE | _SECTIONS | _TABLE | _LISTS | _OTHERS
_CELLS = _names("td th")
_SKIPPED = _names("datalist embed iframe math noembed noframes object script select style template textarea")
_ASIDE = _names("aside audio canvas nav noscript search video")
_ASIDE_ROLES = _names("banner complementary contentinfo navigation search")
_LINKS = {"a": "href", "area": "href", "frame": "src"}
_METADATA = _names("base html link meta")

_CONTAINER = re.compile(
    r"(?i)<(/?)(?:address|article|aside|blockquote|center|details|dialog|div|dl|fieldset|figure|font|footer|form|"
    r"header|main|menu|nav|ol|section|span|ul)\b"
)
_REFRESH = re.compile(r"""(?si)\s*[\d.]+[\s;,]+(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""")


def parse_page(
    content: bytes | str,
    url: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    redirects: Sequence[str] = (),
) -> Page:
    """Read one HTML document. No input raises: what is broken is read as a browser would read it.

    Args:
        content: the body as received, decompressed; text when it was decoded already.
        url: the final URL, after redirects.
        status: HTTP status of the answer.
        headers: the answer's headers, names in any case. None: there are none.
        redirects: the URLs of the hops before `url`, the leased one first.

    Returns:
        The page. Its text has one line per block and leaves out navigation, page header and footer and asides
        unless nothing else is there. Its links are all links, those of the navigation included, except for
        fragments (`#…`).
    """
    sent = {name.lower(): value for name, value in (headers or {}).items()}
    text = content if isinstance(content, str) else decode(content, sent.get("content-type", ""))
    reader = _Reader()
    tree = LexborHTMLParser(_bounded(text).encode("utf-8", "replace"))
    if tree.root is not None:
        reader.read(tree.root)
    robots = reader.robots | _robots_header(sent.get("x-robots-tag", ""))
    return Page(
        url=url,
        status=status,
        redirects=tuple(redirects),
        title=next(filter(None, map(_squeezed, reader.titles)), ""),
        headings=_main_or_all([(aside, _squeezed(parts)) for aside, parts in reader.headings]),
        text="\n".join(_main_or_all(reader.blocks)),
        links=tuple(anchor.found() for anchor in reader.anchors),
        language=reader.language or sent.get("content-language", "").partition(",")[0].strip() or None,
        base_url=reader.base_url,
        content_type=sent.get("content-type"),
        nofollow=not robots.isdisjoint({"nofollow", "none"}),
        noindex=not robots.isdisjoint({"noindex", "none"}),
        canonical=reader.canonical,
        etag=sent.get("etag"),
        last_modified=sent.get("last-modified"),
        retry_after=sent.get("retry-after"),
    )


def _main_or_all(found: Sequence[tuple[bool, str]]) -> tuple[str, ...]:
    """The texts outside of navigation and the like; all of them when there are none."""
    main = tuple(text for aside, text in found if text and not aside)
    return main or tuple(text for _, text in found if text)


def _squeezed(parts: Sequence[str]) -> str:
    return " ".join("".join(parts).split())


def _bounded(text: str) -> str:
    """The text up to where more than `MAX_DEPTH` containers are open."""
    if text.count("<") <= MAX_DEPTH:
        return text
    depth = 0
    for tag in _CONTAINER.finditer(text):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            return text[: tag.start()]
    return text


def _robots_header(value: str) -> set[str]:
    """The directives of `X-Robots-Tag` for everyone; what follows `somebot:` is for that one alone."""
    directives: set[str] = set()
    for part in value.lower().split(","):
        name, colon, _ = part.partition(":")
        if not colon:
            directives.add(name.strip())
        elif not name.strip().startswith(("max-", "unavailable_after")):
            break
    return directives


@dataclass(slots=True, eq=False)
class _Anchor:
    """A link while its text is still being read."""

    href: str
    nofollow: bool = False
    label: str = ""
    parts: list[str] = field(default_factory=list)
    alts: list[str] = field(default_factory=list)
    context: str = ""
    run: _Run | None = None
    start: int = 0
    end: int = 0

    def found(self) -> FoundLink:
        text = _squeezed(self.parts) or " ".join(" ".join(self.alts).split()) or " ".join(self.label.split())
        return FoundLink(self.href, text[:CONTEXT_CHARS], self.context, self.nofollow)


class _Run:
    """The text of one block as it grows, white space collapsed, and the links that stand in it."""

    __slots__ = ("anchors", "aside", "edges", "glue", "length", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.glue = ""
        self.edges: list[int] = []
        self.anchors: list[_Anchor] = []
        self.aside = False

    def add(self, data: str) -> None:
        words = " ".join(data.split())
        if not self.glue and data[:1].isspace():
            self.glue = " "
        if not words:
            return
        if self.length and self.glue:
            self.pieces.append(self.glue)
            self.length += 1
        self.pieces.append(words)
        self.length += len(words)
        self.glue = " " if data[-1].isspace() else ""

    def divide(self, glue: str) -> None:
        """A line or a table cell ends here."""
        if self.length and (not self.edges or self.edges[-1] != self.length):
            self.edges.append(self.length)
        self.glue = "\n" if "\n" in (glue, self.glue) else glue

    def hold(self, anchor: _Anchor) -> None:
        anchor.run, anchor.start, anchor.end = self, self.length, self.length
        self.anchors.append(anchor)

    def finish(self) -> str:
        """The text; every link that stands in it has its context from now on."""
        text = "".join(self.pieces)
        for anchor in self.anchors:
            low, high = self._surroundings(anchor)
            if high - low > CONTEXT_CHARS:
                middle = (anchor.start + anchor.end - CONTEXT_CHARS) // 2
                low = max(low, min(middle, high - CONTEXT_CHARS))
                high = low + CONTEXT_CHARS
            anchor.context = " ".join(text[low:high].split())
        return text

    def _surroundings(self, anchor: _Anchor) -> tuple[int, int]:
        """The line or cell of the link; the whole block when there is nothing else in it than the link."""
        after = bisect_right(self.edges, anchor.start)
        low = self.edges[after - 1] if after else 0
        high = self.edges[after] if after < len(self.edges) else self.length
        alone = high - low <= anchor.end - anchor.start + 1
        return (0, self.length) if alone or anchor.end > high else (low, high)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What an element's contents inherit.

    Attributes:
        aside: navigation and the like, no main text.
        silent: text that stands in no block: of the title, of drawings.
        sectioned: inside an article or section, whose header and footer are contents.
        pre: line breaks count.
        anchor: the link around it; text belongs to the innermost one.
        sink: the title or heading around it, as pieces of text.
    """

    aside: bool = False
    silent: bool = False
    sectioned: bool = False
    pre: bool = False
    anchor: _Anchor | None = None
    sink: list[str] | None = None


class _Reader:
    """One walk over a tree, which collects what a page consists of."""

    def __init__(self) -> None:
        self.titles: list[list[str]] = []
        self.headings: list[tuple[bool, list[str]]] = []
        self.blocks: list[tuple[bool, str]] = []
        self.anchors: list[_Anchor] = []
        self.robots: set[str] = set()
        self.language: str | None = None
        self.base_url: str | None = None
        self.canonical: str | None = None
        self._run = _Run()

    def read(self, root: LexborNode) -> None:
        """Visit every node in document order, with a stack of our own in place of recursion."""
        node: LexborNode | None = root
        scope = _Scope()
        opened: list[tuple[LexborNode, _Scope, _Scope]] = []
        while node is not None:
            inner = self._enter(node, scope)
            child = node.first_child if inner is not None else None
            if inner is not None and child is not None:
                opened.append((node, scope, inner))
                node, scope = child, inner
                continue
            if inner is not None:
                self._boundary(node.tag or "", scope, inner)
            following = node.next
            while following is None and opened:
                node, scope, inner = opened.pop()
                self._boundary(node.tag or "", scope, inner)
                following = node.next
            node = following
        self._end_block(scope)

    def _enter(self, node: LexborNode, scope: _Scope) -> _Scope | None:
        """Take in what starts here. Returns what its children inherit; None when they do not matter."""
        if node.is_text_node:
            self._text(node.text_content or "", scope)
            return None
        tag = node.tag or ""
        if tag in _SKIPPED:
            return None
        if tag in _METADATA:
            self._metadata(tag, node)
        inner = self._inherited(tag, node, scope)
        self._boundary(tag, scope, inner)
        if tag in _LINKS:
            inner = self._link(node.attributes, _LINKS[tag], inner)
        elif tag == "img" and scope.anchor is not None:
            scope.anchor.alts.append(node.attributes.get("alt") or "")
        elif tag == "br":
            self._divide("\n", scope)
        return inner

    def _boundary(self, tag: str, outer: _Scope, inner: _Scope) -> None:
        """Blocks and the border of the main text end the line; a cell only divides it."""
        if tag in _BLOCKS or inner.aside != outer.aside:
            self._end_block(inner)
        elif tag in _CELLS:
            self._divide(" ", inner)

    def _inherited(self, tag: str, node: LexborNode, scope: _Scope) -> _Scope:
        if tag == "title" and not scope.silent:
            self.titles.append([])
            return replace(scope, silent=True, sink=self.titles[-1])
        if tag == "svg":
            return replace(scope, silent=True)
        if tag in _PRE:
            return replace(scope, pre=True)
        if not scope.aside and _is_aside(tag, node, scope):
            scope = replace(scope, aside=True)
        if tag in _SECTIONS and not scope.sectioned:
            scope = replace(scope, sectioned=True)
        if tag in _HEADINGS:
            self.headings.append((scope.aside, []))
            scope = replace(scope, sink=self.headings[-1][1])
        return scope

    def _text(self, data: str, scope: _Scope) -> None:
        for number, line in enumerate(data.split("\n") if scope.pre else (data,)):
            if number:
                self._end_block(scope)
            if scope.sink is not None:
                scope.sink.append(line)
            if scope.anchor is not None:
                scope.anchor.parts.append(line)
            if not scope.silent:
                self._place(line, scope)

    def _place(self, data: str, scope: _Scope) -> None:
        """Put text into the current block, and the link around it beside it."""
        anchor, run = scope.anchor, self._run
        if anchor is not None and anchor.run is not run and not anchor.context:
            run.hold(anchor)
        run.aside = scope.aside
        run.add(data)
        if anchor is not None and anchor.run is run:
            anchor.end = run.length

    def _end_block(self, scope: _Scope) -> None:
        self._space(scope)
        run = self._run
        if run.pieces or run.anchors:
            self.blocks.append((run.aside, run.finish()))
        self._run = _Run()

    def _divide(self, glue: str, scope: _Scope) -> None:
        self._space(scope)
        self._run.divide(glue)

    @staticmethod
    def _space(scope: _Scope) -> None:
        """Keep words of two blocks apart in the link or heading that spans them."""
        if scope.sink is not None:
            scope.sink.append(" ")
        if scope.anchor is not None:
            scope.anchor.parts.append(" ")

    def _link(self, attributes: Mapping[str, str | None], name: str, scope: _Scope) -> _Scope:
        href = attributes.get(name) or ""
        if not href.strip() or href.lstrip().startswith("#"):
            return scope
        label = attributes.get("alt") or attributes.get("aria-label") or attributes.get("title") or ""
        anchor = _Anchor(href, "nofollow" in _tokens(attributes.get("rel")), label)
        self.anchors.append(anchor)
        self._run.hold(anchor)
        return replace(scope, anchor=anchor)

    def _metadata(self, tag: str, node: LexborNode) -> None:
        attributes = node.attributes
        if tag == "html":
            self.language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip() or None
        elif tag == "base":
            self.base_url = self.base_url or attributes.get("href") or None
        elif tag == "link" and "canonical" in _tokens(attributes.get("rel")):
            self.canonical = self.canonical or attributes.get("href") or None
        elif tag == "meta":
            self._meta(attributes)

    def _meta(self, attributes: Mapping[str, str | None]) -> None:
        value = attributes.get("content") or ""
        if (attributes.get("name") or "").strip().lower() == "robots":
            self.robots.update(_tokens(value.replace(",", " ")))
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            found = _REFRESH.match(value)
            href = (found[1] or found[2] or found[3] or "").strip() if found else ""
            if href and not href.startswith("#"):
                self.anchors.append(_Anchor(href))


def _is_aside(tag: str, node: LexborNode, scope: _Scope) -> bool:
    if tag in _ASIDE or (tag in {"header", "footer"} and not scope.sectioned):
        return True
    return tag in _BLOCKS and (node.attributes.get("role") or "").strip().lower() in _ASIDE_ROLES


def _tokens(value: str | None) -> list[str]:
    return (value or "").lower().split()
