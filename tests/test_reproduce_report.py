"""The report of reproductions: what is on the page, and how a browser shows it: on a phone, in print, in the dark."""

from __future__ import annotations

import base64
import json
import math
import re
from itertools import pairwise

import pytest

from edgewise.reproduction import charts, report
from edgewise.reproduction.declarations import HIGHER, LOWER
from edgewise.reproduction.results import (
    Cell,
    Curve,
    Environment,
    Measured,
    Missing,
    Reproduction,
    Series,
)
from tests import chromium

NAMES = ("DT", "OLB", "AdaOLM", "MB .3", "MB .1", "MB .05", "MB .01", "MB .001", "OvA", "AdaOVA")
NASTY = "</script><b onload=x>&amp; \"quoted\" 'too'"
WHERE = Environment("a machine", {"Python": "3.11"}, "0123456789abcdef", None, 12.5, "2026-01-02T03:04:05+00:00")


def cell(data, algorithm, ours, paper, error=0.004, measure="accuracy, last fifth", better=HIGHER):
    measured = None if ours is None else Measured(ours, error, 5, 1.25)
    beside = Measured(0.912, 0.002, 3, 0.5)
    return Cell(data, algorithm, measure, better, measured, paper, 26235.0, 5, beside, "AdaBoostOLM()", "")


def lines(count, points=40):
    x = [float(50 * (i + 1)) for i in range(points)]
    return [Series(f"learner {n}", x, [0.5 - 0.4 / (1 + i) + 0.01 * n for i in range(points)]) for n in range(count)]


@pytest.fixture(scope="module")
def table():
    sets = ("Balance", "Cars (numeric)", NASTY)
    cells = [cell(data, name, 0.9 + 0.001 * i, 0.9) for data in sets for i, name in enumerate(NAMES)]
    cells += [cell("Nursery", name, 0.85, 0.9) for name in NAMES]
    cells += [cell("Mice", "DT", 0.80, 0.9), cell("Mice", "AdaOLM", None, 0.5)]
    cells += [cell("Mice", "DT", 0.0931, 0.0881, 0.0012, "rank loss", LOWER)]
    curves = [Curve("learning", "Balance", name, "rows", "accuracy", lines(1)) for name in NAMES]
    curves += [Curve("edge", "Balance", "AdaOLM", "rows", "edge", lines(12))]
    bound = [Series("bound", [10.0, 20.0, 40.0], [None, 1e6, 2e6]), Series("mistakes", [10.0, 20.0, 40.0], [1, 5, 7])]
    curves += [Curve("bound", "Balance", "AdaOLM", "rows", "mistakes", bound)]
    cost = [Series(name, [10.0**e for e in range(3, 9)], [1 / e for e in range(3, 9)]) for name in ("GB", "SGB")]
    curves += [Curve("cost", "MNIST", "", "computation (predictions of one learner)", "test loss", cost)]
    return Reproduction(
        "000/table-3",
        "Table 3: accuracy",
        "Jung, Goetz and Tewari 2017",
        "What it shows.",
        ["A departure."],
        {"data Balance": "shuffled", f"algorithm {NASTY}": "AdaBoostOLM.preset('paper', n_estimators=100)"},
        cells,
        curves,
        [Missing("data set mediamill", "fetch it")],
        WHERE,
        False,
    )


@pytest.fixture(scope="module")
def figure():
    return Reproduction(
        "004/figure-1",
        "Figure 1",
        "M and S 2010",
        "Pictures.",
        [],
        {},
        [],
        [],
        [],
        WHERE._replace(quick="50 rows"),
        True,
    )


@pytest.fixture(scope="module")
def page(table, figure):
    return report.html([table, figure])


# -- what is on the page ---------------------------------------------------------------------------------------------


def test_the_page_refers_to_nothing_outside_it(page):
    targets = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'>\s]+)""", page)
    assert targets
    assert all(target.startswith(("#", "data:,")) for target in targets)
    assert not re.findall(r"@import|url\(|https?:", page.replace("http-equiv", ""))
    assert page.count("<script") == 1  # the data, which no browser runs


def test_what_is_said_of_worse_cells_follows_from_the_numbers(table, page):
    worse = [each for each in table.cells if each.worse]
    assert [each.data for each in worse] == ["Nursery"] * 10 + ["Mice", "Mice"]
    assert "<strong class=worse>12</strong> of ours are worse" in page
    assert page.split("<ul id=worse>")[1].split("</ul>")[0].count("<li>") == 12
    assert page.count("<tr class=bad") == 12
    assert page.count("<td class=bad>") == 11  # at a glance; the rank loss of one set and algorithm has no such table


def test_partial_quick_and_missing_are_told(page):
    for words in ("Not whole.", "A quick run", "50 rows", "data set mediamill: fetch it", "not run", "0 of 5"):
        assert words in page, words


def test_an_empty_list_and_a_bare_reproduction_make_a_page(figure):
    assert "<strong>0</strong> values" in report.html([])
    assert "Figure 1" in report.html([figure._replace(environment=WHERE)])


def test_a_figure_shows_its_curves_before_its_cells(table):
    text = report.html([table._replace(id="000/figure-1")])
    assert text.index("class=charts") < text.index("class=tables")
    text = report.html([table])
    assert text.index("class=tables") < text.index("class=charts")


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [
        (0.9314, 3, ".931"),
        (1.0, 3, "1.000"),
        (0.99996, 3, "1.000"),
        (-0.0625, 3, "−.062"),
        (0.0, 3, ".000"),
        (3.737e-9, 4, "3.74e−9"),
        (42.8976, 4, "42.90"),
        (288204.0, 3, "288,204"),
        (1.3e7, 3, "1.30e7"),
    ],
)
def test_figures(value, places, shown):
    assert report.figure(value, places) == shown


def test_as_many_decimals_as_the_paper_prints():
    assert report.decimals([cell("a", "b", 0.5, 0.1654), cell("a", "c", 0.5, 0.16)]) == 4
    assert report.decimals([cell("a", "b", 0.5, 0.93)]) == 3
    assert report.decimals([cell("a", "b", 0.5, None)]) == 3
    assert report.decimals([cell("a", "b", 0.5, 0.1353353)]) == 4


@pytest.mark.parametrize(("count", "columns"), [(12, 13), (13, 4)])
def test_many_algorithms_stand_in_rows(count, columns):
    cells = [cell(data, f"a{i}", 0.5, None) for data in ("x", "y", "z") for i in range(count)]
    head, body = report.glance(cells).split("</thead>")
    assert head.count("<th scope=col>") == columns
    assert body.count("<td") == 3 * count


def test_curves_of_one_line_over_the_same_axes_share_a_picture(table):
    pictures = report.side_by_side([curve for curve in table.curves if curve.kind == "learning"])
    assert len(pictures) == 1
    assert [line.name for line in pictures[0].series] == list(NAMES)
    assert len(report.side_by_side([curve for curve in table.curves if curve.kind != "learning"])) == 3


# -- pictures --------------------------------------------------------------------------------------------------------


def points_of(chart):
    (path,) = re.findall(r'<path class="line c0 d0" d="M([^"]*)"/>', chart.split("<ul")[0])
    return [tuple(map(float, place.split())) for place in path.split("L")]


def test_points_stand_where_the_numbers_are():
    chart = charts.line_chart("t", "x", "y", [("a", [0.0, 50.0, 100.0], [0.0, 0.25, 1.0])])
    (x0, y0), (x1, y1), (x2, y2) = points_of(chart)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert 3 * (y0 - y1) == pytest.approx(y1 - y2, abs=0.41)
    assert y0 > y2  # up is more
    assert (x0, x2) == (charts.LEFT, charts.WIDTH - charts.RIGHT)


def test_factors_are_equal_steps_on_a_wide_axis():
    chart = charts.line_chart("t", "x", "y", [("a", [1.0, 10.0, 100.0, 1000.0], [1.0, 10.0, 100.0, 1000.0])])
    places = points_of(chart)
    steps = [(b[0] - a[0], a[1] - b[1]) for a, b in pairwise(places)]
    assert all(step == pytest.approx(steps[0], abs=0.11) for step in steps)


@pytest.mark.parametrize(
    "y", [[1.0, 1.0], [0.0, 0.0], [5.0], [math.inf, 2.0], [None, 3.0], [-1.0, 1e9], [1e-12, 1.0], [1e-300, 1e-300]]
)
def test_odd_numbers_make_a_picture_all_the_same(y):
    chart = charts.line_chart("t", "x", "y", [("a", list(map(float, range(len(y)))), y)])
    assert "<svg" in chart
    assert not re.search(r"\b(nan|inf)\b", chart)


def test_a_series_without_points_is_named():
    chart = charts.line_chart(
        "t", "x", "y", [("bound", [1.0, 2.0], [None, None]), ("suffered", [1.0, 2.0], [3.0, 4.0])]
    )
    assert "No points: bound." in chart
    assert "No points: a, b." in charts.line_chart("t", "x", "y", [("a", [], []), ("b", [1.0], [None])])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-2.0, 2.0), (0.9371, 0.9412), (0.0, 165632.0), (3.0, 3.1)])
def test_even_ticks_lie_within_and_are_few(low, high):
    ticks = charts.Axis(low, high, False, 0, 1).ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
    gaps = {round((b - a) / (high - low), 9) for a, b in pairwise(ticks)}
    assert len(gaps) == 1


@pytest.mark.parametrize(("low", "high"), [(1.0, 500.0), (1e3, 5e8), (250.0, 8000.0), (0.02, 0.05), (1e-9, 1.0)])
def test_log_ticks_lie_within_and_are_few(low, high):
    ticks = charts.Axis(low, high, True, 0, 1).ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low * (1 - 1e-6) <= tick <= high * (1 + 1e-6) for tick in ticks)


# -- in a browser ----------------------------------------------------------------------------------------------------

CONTRAST = """(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const own = node => [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
  const text = [...document.body.querySelectorAll('*:not(script)')].filter(own).map(node => {
    const style = getComputedStyle(node);
    return [node.tagName + '.' + (node.className.baseVal ?? node.className),
            ratio(rgb(node instanceof SVGElement ? style.fill : style.color), behind(node))];
  });
  const drawn = [...document.querySelectorAll('.line')].map(node =>
    [node.className.baseVal, ratio(rgb(getComputedStyle(node).stroke), behind(node.closest('figure')))]);
  return {text, drawn, page: light(behind(document.body))};
})()"""


@pytest.fixture(scope="module")
def shown(page, tmp_path_factory):
    if chromium.found() is None:
        pytest.skip("no Chromium on the PATH")
    folder = tmp_path_factory.mktemp("report")
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    browser = chromium.Chromium(folder / "profile")
    browser.view(1280, 900)
    browser.open(file)
    yield browser
    browser.close()


def test_nothing_is_asked_for_and_nothing_goes_wrong(shown):
    asked = [
        event["params"]["request"]["url"] for event in shown.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url.partition(":")[0] for url in asked if not url.startswith("data:")] == ["file"]
    said = [event for event in shown.events if event["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled")]
    assert said == []
    assert not any(event["method"] == "Runtime.exceptionThrown" for event in shown.events)


def test_every_cell_of_the_data_is_a_line_of_a_table(shown, table):
    data = shown.value("JSON.parse(document.getElementById('reproductions').textContent)")
    assert data["format"] == "edgewise-reproductions"
    found = shown.value("[...document.querySelectorAll('tr[data-data]')].map(r => ({...r.dataset, text: r.innerText}))")
    listed = [each for whole in data["reproductions"] for each in whole["cells"]]
    assert len(found) == len(listed) == len(table.cells)
    for line, about in zip(found, listed, strict=True):
        assert [line[key] for key in ("data", "algorithm", "measure")] == [
            about[key] for key in ("data", "algorithm", "measure")
        ]
        places = 4 if about["measure"] == "rank loss" else 3
        if about["ours"] is not None:
            assert report.figure(about["ours"]["mean"], places) in line["text"]
        assert report.figure(about["paper"], places) in line["text"]
        assert ("worse" in line["text"]) == about["worse"]


def test_foreign_text_stays_text(shown):
    assert shown.value("document.querySelectorAll('b').length") == 0
    assert NASTY in shown.value("document.body.innerText")


@pytest.mark.parametrize("width", [320, 360, 414, 768, 1280])
def test_only_tables_scroll_sideways(shown, width):
    shown.view(width, 800)
    assert shown.value("[innerWidth, document.documentElement.scrollWidth]") == [width, width]
    outside = """[...document.querySelectorAll('body *')].filter(node => !node.closest('.box, script') &&
        node.getBoundingClientRect().right > innerWidth + 1).map(node => node.outerHTML.slice(0, 80))"""
    assert shown.value(outside) == []
    cut = """[...document.querySelectorAll('.box')].filter(box => box.scrollWidth > box.clientWidth &&
        getComputedStyle(box).overflowX !== 'auto').length"""
    assert shown.value(cut) == 0


def test_on_a_phone_pictures_are_readable(shown):
    shown.view(360, 800)
    scales = """[...document.querySelectorAll('figure > svg')].map(picture =>
        picture.getBoundingClientRect().width / picture.viewBox.baseVal.width)"""
    found = shown.value(scales)
    assert len(found) == 4
    assert min(found) > 0.9  # letters of 11 pixels stay at least 10 high


@pytest.mark.parametrize(("scheme", "media"), [("light", "screen"), ("dark", "screen"), ("dark", "print")])
def test_colors_have_contrast_in_light_dark_and_print(shown, scheme, media):
    shown.view(1280, 900, scheme=scheme, media=media)
    found = shown.value(CONTRAST)
    dark = scheme == "dark" and media == "screen"
    assert found["page"] < 0.05 if dark else found["page"] > 0.95
    assert len(found["text"]) > 200
    assert [each for each in found["text"] if each[1] < 4.5] == []
    assert len(found["drawn"]) > 20
    assert [each for each in found["drawn"] if each[1] < 3.0] == []


def test_it_can_be_read_aloud_and_by_keyboard(shown):
    shown.view(1280, 900)
    assert shown.value("document.documentElement.lang") == "en"
    assert shown.value("[...document.querySelectorAll('table')].every(t => t.caption && t.caption.innerText.trim())")
    assert shown.value("[...document.querySelectorAll('th')].every(t => t.scope)")
    assert shown.value(
        "[...document.querySelectorAll('figure > svg')].every(s => s.getAttribute('aria-label').length > 20)"
    )
    assert shown.value(
        "[...document.querySelectorAll('.box')].every(b => b.tabIndex === 0 && b.getAttribute('aria-label'))"
    )
    levels = shown.value("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    links = "[...document.querySelectorAll('a')].every(a => document.getElementById(a.hash.slice(1)))"
    assert shown.value(links)


def test_it_prints(shown):
    shown.view(794, 1123, media="print")  # A4 at 96 dots per inch
    assert shown.value("document.documentElement.scrollWidth") <= 794
    wide = "[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().right - innerWidth)"
    assert max(shown.value(wide)) <= 0
    pdf = base64.b64decode(shown.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    assert pdf.startswith(b"%PDF")
    counts = [int(count) for count in re.findall(rb"/Type\s*/Pages\s.*?/Count (\d+)", pdf, re.DOTALL)]
    assert max(counts) >= 3  # the summary, a section each
    assert len(pdf) > 20_000


def test_the_data_are_strict_json(page):
    text = page.split('id="reproductions">')[1].split("</script>")[0]
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert len(data["reproductions"]) == 2
