"""Write what was measured into `docs/performance.md`: its tables and its plot, out of JSON. A test compares the two.

    python docs/make_performance.py                     # from docs/measured/
    python docs/make_performance.py .bench              # take over the benchmarks' JSON from there first
    python docs/make_performance.py --peers RESULTS     # and that of the comparison with others

What stands between `<!-- measured: … -->` and `<!-- end -->` is written here; the rest of the page is written by hand.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Measured = dict[str, Any]
    Panel = tuple[str, str, tuple[tuple[str, str], ...]]

DOCS = Path(__file__).parent
PAGE = DOCS / "performance.md"
PLOT = DOCS / "growth.svg"
MEASURED = DOCS / "measured"
TAKEN = ("figures.json", "large.json")
_BLOCK = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


# -- numbers and tables ------------------------------------------------------------------------------------------


def number(value: float | None) -> str:
    """Three digits that count; nothing for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def named(count: int) -> str:
    """10k, 1M."""
    return f"{count // 1_000_000}M" if count % 1_000_000 == 0 else f"{count // 1_000}k"


def rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def about(measured: Measured) -> str:
    """What it was measured on."""
    machine = measured["machine"]
    return (
        f"{machine['cores']} cores, {machine['system']}, Python {machine['python']}, SQLite {machine['sqlite']}, "
        f"load {machine['load']} when it ended.\n\n"
    )


def figures_table(measured: Measured) -> str:
    """Every figure beside its floor and its bar."""
    body = []
    for figure in measured["figures"]:
        verdict = {None: "", True: " ✓", False: " **missed**"}[figure["met"]]
        body.append(
            [
                figure["name"],
                f"{number(figure['value'])} {figure['unit']}",
                number(figure["floor"]),
                number(figure["ratio"]),
                figure["bar"] + verdict,
                figure["note"],
            ]
        )
    return about(measured) + rows(("figure", "value", "floor", "ratio", "bar", ""), body)


def series_of(measured: Measured) -> dict[str, dict[int, Measured]]:
    """Figures by what was done, then by links."""
    found: dict[str, dict[int, Measured]] = {}
    for figure in measured["figures"]:
        if figure.get("series"):
            found.setdefault(figure["series"], {})[figure["links"]] = figure
    return found


def growth_table(measured: Measured) -> str:
    """One row for each thing done, one column for each size of the store."""
    series = series_of(measured)
    links = sorted({size for points in series.values() for size in points})
    body = []
    for name, points in series.items():
        unit = next(iter(points.values()))["unit"]
        cells = [_cell(points.get(size)) for size in links]
        body.append([f"{name}, {unit}", *cells])
    return about(measured) + rows(("links", *map(named, links)), body)


LEAST_SECONDS = 0.5
"""Of a command: below them its time drowns in how much that of the imports, which is taken off, varies."""


def _cell(point: Measured | None) -> str:
    if point is None:
        return ""
    memory = f" ({number(point['memory'])} MiB)" if point.get("memory") else ""
    floor = f"; floor {number(point['floor'])}" if point.get("floor") else ""
    cpu = f"; CPU {number(point['cpu_ms'])} ms" if point.get("cpu_ms") else ""
    known = point["unit"] != "s" or point["value"] >= LEAST_SECONDS
    return f"{number(point['value']) if known else f'under {LEAST_SECONDS}'}{floor}{cpu}{memory}"


def peers_table(measured: Measured) -> str:
    """Ratios of each to the floor that ran before and after it."""
    body = [
        [
            row["name"],
            *(number(row[name]) for name in ("urls", "urls_ratio", "pages", "pages_ratio")),
            row["kept"],
        ]
        for row in measured["peers"]
    ]
    header = (
        "store",
        "bulk add, URLs/s",
        "of the floor",
        "pages/s",
        "of the floor",
        "what a power cut may take",
    )
    return rows(header, body)


def reduced(results: Measured, kept: Callable[[str], str]) -> Measured:
    """What the table needs of the comparison's own JSON: medians of its runs and of their ratios to the floor."""
    found = []
    for name, peer in results.items():
        runs = peer.get("runs") or []
        if runs:
            found.append(
                {
                    "name": name,
                    "urls": median(run["w1"]["urls_per_s"] for run in runs),
                    "urls_ratio": median(
                        run["w1"]["urls_per_s"] / run["floor"]["urls_per_s"] for run in runs
                    ),
                    "pages": median(run["w2"]["pages_per_s"] for run in runs),
                    "pages_ratio": median(
                        run["w2"]["pages_per_s"] / run["floor"]["pages_per_s"] for run in runs
                    ),
                    "kept": kept(name),
                }
            )
    return {"peers": sorted(found, key=lambda row: -row["pages_ratio"])}


# -- the plot ----------------------------------------------------------------------------------------------------

PANELS: tuple[Panel, ...] = (
    ("lease(10)", "ms", (("lease(10) of a crawl", "of a crawl"), ("lease(10), 1k lanes", "1,000 lanes"))),
    ("open + first lease", "ms", (("open + first lease", ""),)),
    (
        "lease + observe a page",
        "ms",
        (("lease + observe", "rescores included"), ("… nothing rescored", "nothing rescored")),
    ),
    ("disk", "bytes a URL", (("disk", ""),)),
)
"""Title, unit, and the series with their labels."""

_COLOURS = ("#1f6feb", "#d1652f")
_WIDTH, _HEIGHT = 330, 220
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 34, 16, 34


def plot(measured: Measured) -> str:
    """How cost grows: a panel for each cost, links along a logarithmic axis, cost from 0 upwards."""
    series = series_of(measured)
    made = []
    for index, panel in enumerate(PANELS):
        place = f"translate({index % 2 * _WIDTH} {index // 2 * _HEIGHT})"
        made.append(f'<g transform="{place}">\n{"".join(_panel(panel, series))}</g>\n')
    size = f'width="{2 * _WIDTH}" height="{2 * _HEIGHT}" viewBox="0 0 {2 * _WIDTH} {2 * _HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">\n'
        "<title>How cost grows with the links in the store</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{"".join(made)}</svg>\n'
    )


def _panel(
    panel: tuple[str, str, tuple[tuple[str, str], ...]], series: dict[str, dict[int, Measured]]
) -> Iterator[str]:
    title, unit, lines = panel
    curves = [
        ({links: _cost(point) for links, point in sorted(series.get(name, {}).items())}, label)
        for name, label in lines
    ]
    top = _round_up(max((cost for points, _ in curves for cost in points.values()), default=1.0))
    yield f'<text x="{_LEFT}" y="18" font-weight="bold">{title}, {unit}</text>\n'
    for part in (0.0, 0.5, 1.0):
        y = _y(top * part, top)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#d0d7de"/>\n'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(top * part) or 0}</text>\n'
    for exponent in (4, 5, 6, 7):
        x = _x(10**exponent)
        yield f'<text x="{x:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">{named(10**exponent)}</text>\n'
    for (points, label), colour, row in zip(curves, _COLOURS, (0, 1), strict=False):
        path = " ".join(f"{_x(links):.1f},{_y(cost, top):.1f}" for links, cost in points.items())
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>\n'
        for links, cost in points.items():
            yield f'<circle cx="{_x(links):.1f}" cy="{_y(cost, top):.1f}" r="3" fill="{colour}"/>\n'
        if label:
            y = _HEIGHT - _BOTTOM - 24 + 14 * row
            yield f'<text x="{_LEFT + 8}" y="{y}" fill="{colour}">{label}</text>\n'


def _cost(point: Measured) -> float:
    """What one costs: a rate is turned round."""
    value: float = point["value"]
    return 1_000 / value if point["unit"].endswith("/s") else value


def _round_up(value: float) -> float:
    step = 10 ** math.floor(math.log10(value))
    return next(step * times for times in (1, 2, 4, 5, 10) if step * times >= value)


def _x(links: float) -> float:
    return _LEFT + 12 + (math.log10(links) - 4) / 3 * (_WIDTH - _LEFT - _RIGHT - 24)


def _y(cost: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - cost / top * (_HEIGHT - _TOP - _BOTTOM)


# -- the page ----------------------------------------------------------------------------------------------------

BLOCKS: dict[str, tuple[str, Callable[[Measured], str]]] = {
    "figures": ("figures.json", figures_table),
    "growth": ("large.json", growth_table),
    "peers": ("peers.json", peers_table),
}
"""By the name in the page: the file, and what makes a text of it."""


def read(name: str) -> Measured:
    """A file of figures."""
    found: Measured = json.loads((MEASURED / name).read_text(encoding="utf-8"))
    return found


def written(page: str) -> str:
    """The page with its measured parts written anew."""

    def block(found: re.Match[str]) -> str:
        file, make = BLOCKS[found[2]]
        return f"{found[1]}{make(read(file))}{found[3]}"

    return _BLOCK.sub(block, page)


def main() -> None:
    """Take over what was measured, write the page and the plot."""
    options = argparse.ArgumentParser(description="Write what was measured into docs/performance.md.")
    options.add_argument("bench", type=Path, nargs="?", help="folder that the benchmarks wrote their JSON to")
    options.add_argument("--peers", type=Path, help="results.json of the comparison with other stores")
    chosen = options.parse_args()
    for name in TAKEN:
        if chosen.bench is not None and (chosen.bench / name).exists():
            shutil.copyfile(chosen.bench / name, MEASURED / name)
    if chosen.peers is not None:
        results = json.loads(chosen.peers.read_text(encoding="utf-8"))
        power = {name: peer["about"]["power"] for name, peer in results["peers"].items()}
        found = reduced(results["peers"], power.__getitem__)
        (MEASURED / "peers.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    PLOT.write_text(plot(read("large.json")), encoding="utf-8")


if __name__ == "__main__":
    main()
