"""What `parse_page` reads out of a document, and that no document breaks it."""

from __future__ import annotations

import importlib
import sys
import time
from html import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagesift_store.html import CONTEXT_CHARS, parse_page
from pagesift_store.records import FoundLink, Page

URL = "https://www.example.edu/visa/index.html"


def read(body: str | bytes, **headers: str) -> Page:
    return parse_page(body, URL, headers={name.replace("_", "-"): value for name, value in headers.items()})


def link_to(page: Page, href: str) -> FoundLink:
    return next(link for link in page.links if link.href == href)


class TestText:
    def test_one_line_per_block(self) -> None:
        page = read(
            "<h1>Fees</h1><p>First <b>bo</b>ld\n line.</p><ul><li>one<li>two</ul>"
            "<table><tr><th>Term<th>Fee<tr><td>Autumn<td>120</table>"
            "<dl><dt>Visa<dd>A permit</dl><pre>a  b\nc</pre>tail"
        )
        assert page.text.split("\n") == [
            "Fees",
            "First bold line.",
            "one",
            "two",
            "Term Fee",
            "Autumn 120",
            "Visa",
            "A permit",
            "a b",
            "c",
            "tail",
        ]

    def test_a_line_break_is_a_line(self) -> None:
        assert read("<p>one<br>two<br><br>three").text == "one\ntwo\nthree"

    @pytest.mark.parametrize(
        "left_out",
        [
            "<nav>menu</nav>",
            "<header>logo</header>",
            "<footer>imprint</footer>",
            "<aside>ads</aside>",
            "<script>var x</script>",
            "<style>p {}</style>",
            "<noscript>turn it on</noscript>",
            "<template><p>row</p></template>",
            "<div role=navigation>menu</div>",
            "<!-- note -->",
            "<select><option>Albania</select>",
            "<textarea>type here</textarea>",
        ],
    )
    def test_what_is_no_main_text(self, left_out: str) -> None:
        assert read(f"<body>{left_out}<p>The text</p>{left_out}").text == "The text"

    def test_header_of_an_article_is_text(self) -> None:
        page = read("<header><h1>Site</h1></header><article><header><h1>Story</h1></header><p>Body</article>")
        assert page.text == "Story\nBody"
        assert page.headings == ("Story",)

    def test_falls_back_to_the_body(self) -> None:
        page = read("<header><h1>Only</h1></header><nav><a href=a>menu</a></nav>")
        assert page.text == "Only\nmenu"
        assert page.headings == ("Only",)

    def test_a_drawing_does_not_split_a_sentence(self) -> None:
        page = read("<title>Page</title><p>before <svg><title>Icon</title><text>x</text></svg> after</p>")
        assert page.text == "before after"
        assert page.title == "Page"

    def test_title_and_headings(self) -> None:
        page = read(
            "<title>\n Visa <b> &amp; fees </title>"
            "<h1>A <i>b</i></h1><h3><div>c</div><div>d</div></h3><h2></h2>"
        )
        assert page.title == "Visa <b> & fees"
        assert page.headings == ("A b", "c d")

    def test_title_of_a_broken_head(self) -> None:
        assert read("<body><p>text<title></title><title>Late</title>").title == "Late"

    def test_empty(self) -> None:
        assert read(b"") == Page(url=URL)


class TestLinks:
    def test_in_document_order_with_navigation_and_areas(self) -> None:
        page = read(
            "<nav><a href='/n'>N</a></nav><p><a href='b'>B</a><map><area href=c alt='Map of C'></map>"
            "<noscript><a href=d>D</a></noscript><a href='?q=1&amp;r=2'>E</a>"
        )
        assert [(link.href, link.anchor) for link in page.links] == [
            ("/n", "N"),
            ("b", "B"),
            ("c", "Map of C"),
            ("d", "D"),
            ("?q=1&r=2", "E"),
        ]

    @pytest.mark.parametrize(
        "anchor",
        [
            "<a>x</a>",
            "<a name=x>x</a>",
            "<a href=''>x</a>",
            "<a href=' #top'>x</a>",
        ],
    )
    def test_what_is_no_link(self, anchor: str) -> None:
        assert read(anchor).links == ()

    @pytest.mark.parametrize(
        ("inside", "anchor"),
        [
            ("<img alt='Fees  table'>", "Fees table"),
            ("<img alt=no> Text", "Text"),
            ("<div>Title</div><div>More</div>", "Title More"),
            ("<svg><title>Home</title></svg>", "Home"),
            ("", "Label"),
        ],
    )
    def test_anchor(self, inside: str, anchor: str) -> None:
        assert read(f"<a href=x aria-label=Label>{inside}</a>").links[0].anchor == anchor

    @pytest.mark.parametrize(
        ("body", "context"),
        [
            ("<p>Before <a href=x>the link</a>, after.</p><p>other</p>", "Before the link, after."),
            ("<div>Intro <a href=x>y</a><p>para</p></div>", "Intro y"),
            ("<ul><li>first<li><a href=x>y</a> (free)</ul>", "y (free)"),
            ("<p>one<br>two <a href=x>y</a><br>three", "two y"),
            ("<p><a href=x>y</a><br>what y is about", "y what y is about"),
            ("<tr><table><td>2024<td>see <a href=x>y</a><td>visa", "see y"),
            ("<table><tr><td>2024<td><a href=x>y</a><td>visa", "2024 y visa"),
            ("<pre>a 1\n<a href=x>y</a>  2K\nb 3</pre>", "y 2K"),
            ("<a href=x><div><img alt=q></div><div>Card text</div></a>", "Card text"),
            ("<p>See <a href=x><img alt=q></a> there", "See there"),
        ],
    )
    def test_context_is_the_block_around(self, body: str, context: str) -> None:
        assert link_to(read(body), "x").context == context

    @pytest.mark.parametrize("before", [0, 50, 2_000, 9_990])
    def test_context_is_centred(self, before: int) -> None:
        page = read(f"<p>{'left ' * before}<a href=x>ANCHOR</a>{' right' * (10_000 - before)}")
        context = page.links[0].context
        assert "ANCHOR" in context
        assert CONTEXT_CHARS - 20 <= len(context) <= CONTEXT_CHARS
        if before == 2_000:
            assert abs(context.index("ANCHOR") - CONTEXT_CHARS / 2) < 20

    def test_an_unclosed_link_does_not_take_the_page(self) -> None:
        page = read("<a href=x>start" + "<p>more text</p>" * 1_000)
        assert len(page.links[0].anchor) <= CONTEXT_CHARS
        assert page.text.count("more text") == 1_000

    def test_nofollow(self) -> None:
        page = read("<a href=a rel='External NOFOLLOW'>x</a><a href=b rel=nofollowed>y</a>")
        assert [link.nofollow for link in page.links] == [True, False]

    @pytest.mark.parametrize(
        ("content", "href"),
        [
            ("5; url=/next", "/next"),
            ("0;URL='/a b'", "/a b"),
            ('3, url = "/q"x', "/q"),
            ("0; /bare", "/bare"),
            ("5", None),
            ("url=/x", None),
            ("", None),
            ("0;url=#top", None),
        ],
    )
    def test_meta_refresh(self, content: str, href: str | None) -> None:
        page = read(f'<meta http-equiv=Refresh content="{escape(content)}">')
        assert [link.href for link in page.links] == ([] if href is None else [href])


class TestHead:
    def test_base_canonical_language(self) -> None:
        page = read(
            "<html lang=' pt-BR '><base target=x><base href='/b/'><base href='/c/'>"
            "<link rel='alternate Canonical' href='/one'><link rel=canonical href='/two'>"
        )
        assert (page.base_url, page.canonical, page.language) == ("/b/", "/one", "pt-BR")

    @pytest.mark.parametrize(
        ("markup", "header", "language"),
        [
            ("<html xml:lang=de>", "fr", "de"),
            ("<html>", "fr, en", "fr"),
            ("<html lang=''>", "", None),
        ],
    )
    def test_language(self, markup: str, header: str, language: str | None) -> None:
        assert read(markup, Content_Language=header).language == language

    @pytest.mark.parametrize(
        ("meta", "header", "nofollow", "noindex"),
        [
            ("NoFollow", "", True, False),
            ("noindex,nofollow", "", True, True),
            ("none", "", True, True),
            ("index, follow", "", False, False),
            ("", "noindex", False, True),
            ("", "none", True, True),
            ("", "somebot: noindex, nofollow", False, False),
            ("", "nofollow, somebot: noindex", True, False),
            ("", "unavailable_after: 25 Jun 2030, nofollow", True, False),
            ("nofollow", "noindex", True, True),
        ],
    )
    def test_robots(self, meta: str, header: str, nofollow: bool, noindex: bool) -> None:
        page = read(f"<meta name=ROBOTS content='{meta}'>", X_Robots_Tag=header)
        assert (page.nofollow, page.noindex) == (nofollow, noindex)

    def test_headers_are_kept_as_sent(self) -> None:
        page = read(
            "x",
            ETAG=' W/"a b"',
            last_modified="Tue, 1 Jan 2030 0:00:00 GMT",
            Retry_After="soon",
            Content_Type="Text/HTML; x",
        )
        assert (page.etag, page.last_modified) == (' W/"a b"', "Tue, 1 Jan 2030 0:00:00 GMT")
        assert (page.retry_after, page.content_type) == ("soon", "Text/HTML; x")

    def test_status_and_redirects(self) -> None:
        page = parse_page("x", URL, status=404, redirects=["https://example.edu/"])
        assert (page.status, page.redirects) == (404, ("https://example.edu/",))
        assert (page.etag, page.last_modified, page.retry_after, page.content_type) == (None,) * 4


class TestCharset:
    @pytest.mark.parametrize(
        ("raw", "content_type", "text"),
        [
            ("Gebühr".encode(), "", "Gebühr"),
            ("Gebühr".encode("latin-1"), "", "Gebühr"),
            ("“Gebühr”".encode("cp1252"), "text/html; charset=ISO-8859-1", "“Gebühr”"),
            ("плата".encode("koi8-r"), 'text/html;charset="KOI8-R"', "плата"),
            ("<meta charset=windows-1251>плата".encode("cp1251"), "text/html", "плата"),
            ("<meta content='text/html; charset=Shift_JIS' http-equiv=x>学費".encode("cp932"), "", "学費"),
            ("<?xml version='1.0' encoding='gb2312'?>学费".encode("gb18030"), "", "学费"),
            (b"<!-- <meta charset=koi8-r> --><meta charset=utf-16>" + "ü".encode(), "", "ü"),
            ("<meta charset=koi8-r>ü".encode(), "text/html; charset=utf-8", "ü"),
            (b"\xef\xbb\xbf" + "ü".encode(), "text/html; charset=koi8-r", "ü"),
            (b"\xff\xfe" + "ü".encode("utf-16-le"), "", "ü"),
            (b"\xfe\xff" + "ü".encode("utf-16-be"), "", "ü"),
            (b"<p>ok \xfc", "text/html; charset=utf-8", "ok \ufffd"),
            ("ü".encode(), "text/html; charset=no-such-thing", "ü"),
            (b"+ADw-p+AD4-", "text/html; charset=utf-7", "+ADw-p+AD4-"),
            (b"<meta charset=rot13>nop", "", "nop"),
            ("für ü".encode()[:-1], "", "für"),
        ],
    )
    def test_decoding(self, raw: bytes, content_type: str, text: str) -> None:
        assert read(raw, Content_Type=content_type).text == text

    def test_meta_is_found_after_the_first_kibibyte(self) -> None:
        head = "<script>" + " " * 2_000 + "</script><meta charset=koi8-r>плата"
        assert read(head.encode("koi8-r")).text == "плата"


class TestBroken:
    @pytest.mark.parametrize(
        "body",
        [
            "<div>" * 5_000 + "<a href=x>deep</a>",
            "<div>" * 200_000,
            "<form><div>" * 2_000 + "<a href=x>deep</a>",
            "<section><a href=x><table><td>" * 2_000,
            '<a title="' + "x" * 10_000_000 + '" href=x>y</a>',
            '<a href="' + "x" * 10_000_000 + '">y</a>',
            "<b><p></b>" * 5_000,
            "<" * 500_000,
            "\0" * 500_000,
            "<!--" * 200_000,
            "<svg><title>" * 2_000,
            "<p><br>" * 20_000,
        ],
        ids=lambda body: body[:16],
    )
    def test_costs_seconds_at_the_most(self, body: str) -> None:
        started = time.process_time()
        read(body)
        assert time.process_time() - started < 5

    def test_5000_containers_are_read_to_the_end(self) -> None:
        assert link_to(read("<div>" * 5_000 + "<a href=x>deep</a>"), "x").anchor == "deep"

    def test_beyond_that_the_rest_is_left(self) -> None:
        assert read("<p>start</p>" + "<div>" * 50_000 + "end").text == "start"

    def test_closed_containers_do_not_count(self) -> None:
        assert read("<div>x</div>" * 50_000).text.count("x") == 50_000

    @pytest.mark.parametrize(
        "item",
        [
            "<li><a href=/x>some words</a>",
            "<a href=/x>some words</a> ",
            "<td><a href=/x>some words</a>",
            "<a href=/x>y</a><br>",
        ],
    )
    def test_100_000_links(self, item: str) -> None:
        started = time.process_time()
        page = read("<table><tr>" + item * 100_000)
        assert len(page.links) == 100_000
        assert time.process_time() - started < 20

    def test_unclosed_tags_and_nul(self) -> None:
        page = read("<p>one <b>two <a href=x>thr\0ee<p>four <a href=y>five")
        assert page.text.split("\n")[-1] == "four five"
        assert [link.href for link in page.links][-1] == "y"

    def test_lone_surrogate_in_decoded_text(self) -> None:
        assert "a" in read("a\ud800b").text

    def test_frames(self) -> None:
        page = read("<frameset><frame src=menu.html><frame src=a.html></frameset>")
        assert [link.href for link in page.links] == ["menu.html", "a.html"]


MARKUP = st.lists(
    st.sampled_from(
        [
            "<a href=x>",
            "</a>",
            "<p>",
            "</p>",
            "<div role=navigation>",
            "<table>",
            "<tr>",
            "<td>",
            "<title>",
            "\n",
            "<br>",
            "<h1>",
            "</h1>",
            "<nav>",
            "</nav>",
            "<html lang=de>",
            "<meta charset=",
            "<svg>",
            "<pre>",
            "<base href=",
            "<template>",
            "<frameset>",
            "<select>",
            "<!--",
            "-->",
            "<![CDATA[",
            "&#xD800;",
            "\0",
            "<img alt=z>",
            "<main>",
            "<meta http-equiv=refresh content=",
            "<body>",
            "</body>",
            "<plaintext>",
            "'",
            "<form>",
            "word ",
            "\ud800",
            '"',
            ">",
            "<math>",
        ]
    ),
    max_size=60,
).map("".join)
LABELS = ("utf-8", "koi8-r", "sjis", "gb2312", "big5", "euc-kr", "euc-jp", "iso-2022-jp", "utf-16", "mac")


class TestAnything:
    @given(st.one_of(st.binary(max_size=400), MARKUP), st.text(max_size=30))
    @example(b"\xff\xfe\x00", "")
    @example(b"<meta charset=iso-2022-jp>\x1b$B\xff", "")
    def test_never_raises(self, content: bytes | str, header: str) -> None:
        page = parse_page(content, URL, headers={"Content-Type": header, "X-Robots-Tag": header})
        for link in page.links:
            assert link.href.strip()
            assert len(link.anchor) <= CONTEXT_CHARS
            assert len(link.context) <= CONTEXT_CHARS
            assert "\n" not in link.anchor + link.context
        assert all(line == line.strip() and line for line in page.text.split("\n") if page.text)

    @given(st.sampled_from(LABELS), st.binary(max_size=200))
    def test_no_declared_charset_raises(self, label: str, content: bytes) -> None:
        assert isinstance(read(content, Content_Type=f"text/html; charset={label}").text, str)


def test_missing_parser_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    monkeypatch.delitem(sys.modules, "pagesift_store.html")
    with pytest.raises(ImportError, match=r"pip install pagesift-store\[html\]"):
        importlib.import_module("pagesift_store.html")
