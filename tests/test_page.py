"""The page of a derivative: which lines come from which, what is measured, and how the page behaves in a browser."""

import functools
import re
import shutil
from html.parser import HTMLParser
from itertools import groupby

import numpy as np
import pytest

from sourcead import Revolve, Segments, grad, hvp
from sourcead.cli.commands import main
from sourcead.page.measured import measured
from sourcead.page.relation import Relation

W, X = np.full((4, 4), 0.3), np.linspace(0, 1, 4)


def loss(w, x, n):
    h = np.zeros(len(w))
    for _ in range(n):
        h = squashed(w @ h + x)
    return np.sum(h ** 2)


def squashed(z):
    return np.tanh(z)


def hostile(w, options):
    s = options["</script><script>alert(1)</script>"]  # </style></textarea> <img src=x onerror=alert(2)> &lt;
    return np.sum(s * w * len("\u202e<!--"))


def stencil(u, n):
    for _ in range(n):
        v = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = v[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1]) * np.sin(v[i])
    return np.sum(u * u)


def simplified(x, y):
    z = x * x
    return z * y


KEY = "</script><script>alert(1)</script>"
CALLS = {
    "loop": (grad(loss, wrt=("w", "x")), (W, X, 5)),
    "hostile": (grad(hostile), (X, {KEY: 2.0})),
    "stencil": (grad(stencil), (X, 3)),
    "states": (grad(loss, checkpoint="states"), (W, X, 5)),
    "simplified": (grad(simplified), (2.0, 3.0)),
    "hvp": (hvp(lambda x: np.sum(np.sin(x) ** 2)), (X, X)),
}


@functools.cache
def page_of(name):
    """The page of one of these calls, made once."""
    made, args = CALLS[name]
    return made.view(*args)


# -- what statements know ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy, saves", [
    ("auto", ["hs = np.empty((max_n, 4))", "hs[i] = h"]),
    ("states", ["hs.append(h)"]),
    (Segments(2), ["hs_1.append(h)", "hs.append(h)"]),
    (Revolve(2), ["states.append((i, h))", "hs.append(h)", "states.append((start, h_1))", "hs.append(h_1)", "hs.append(h_1)"]),
], ids=str)  # fmt: skip
def test_what_is_saved_is_known_after_all_passes(policy, saves):
    program = grad(loss, wrt=("w", "x"), checkpoint=policy)._latest(W, X, 5).built.plain
    lines, statements = program.text.splitlines(), program.statements()
    assert [lines[n - 1].strip() for n, stmt in statements.items() if isinstance(n, int) and stmt.saves] == saves


def became(made, args, function):
    """For each of the user's lines, the texts that come from it, with their roles."""
    program = made._latest(*args).built.plain
    relation = Relation(program, function)
    found = {}
    for number, pieces in enumerate(relation.pieces, 1):
        for (role, units, _), run in groupby(pieces, lambda piece, number=number: relation.owned(piece, number)):
            text = "".join(p.text for p in run).strip()
            for unit in units:
                listing, line = relation.units[unit]
                found.setdefault(listing.lines[line - listing.first].strip(), []).append((role, text))
    return found


def test_each_statement_has_its_forward_statement_its_adjoint_and_what_it_saves():
    found = became(grad(stencil), (X, 3), stencil)
    assert found["v = u.copy()"] == [("forward", "v = u.copy()"), ("saves", "vs.append(v)"), ("adjoint", "d_u += d_v")]
    update = found["u[i] = v[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1]) * np.sin(v[i])"]
    assert update[:2] == [("forward", "sin = np.sin(v[i])"), ("saves", "sins.append(sin)")]
    assert ("adjoint", "d_u[i] = 0.0") in update and all(role == "adjoint" for role, _ in update[3:])


def test_parts_of_a_line_may_come_from_several_statements():
    def mixed(x, y):
        p = np.exp(x)
        return np.sum(y * np.sin(p))

    found = became(grad(mixed), (X, X), mixed)
    assert found["p = np.exp(x)"] == [("forward", "p = np.exp(x)"), ("adjoint", "return"), ("adjoint", "* p")]
    assert found["return np.sum(y * np.sin(p))"] == [("adjoint", "y * np.cos(p)")]


def test_values_that_are_saved_together_belong_to_each_of_their_statements():
    def gated(w, xs):
        h = w
        for x in xs:
            a = np.tanh(h * x)
            b = np.exp(h - x)
            h = a * b
        return np.sum(h)

    found = became(grad(gated), (X, X), gated)
    for statement in ("a = np.tanh(h * x)", "b = np.exp(h - x)"):
        assert any(role == "saves" and "append((" in text for role, text in found[statement])


def test_functions_that_are_called_are_shown_and_calls_belong_to_what_they_became():
    relation = Relation(grad(loss)._latest(W, X, 3).built.plain, loss)
    assert [listing.name for listing in relation.listings] == ["loss", "squashed"]
    (own, around), *_ = [relation.related(s) for s in relation.statements.values() if relation.related(s)[1]]
    quoted = [relation.units[u][0].lines[relation.units[u][1] - relation.units[u][0].first].strip() for u in (*own, *around)]
    assert quoted == ["return np.tanh(z)", "h = squashed(w @ h + x)"]


# -- what is measured -------------------------------------------------------------------------------------------------


def test_runs_and_memory_of_lines_are_those_of_the_call():
    def hold():
        kept = []
        for _ in range(3):
            kept.append(np.ones(100_000))
        return kept

    first, file = hold.__code__.co_firstlineno, hold.__code__.co_filename
    found = measured(hold, file.__eq__, memory=True)
    assert [found.runs[file, first + k] for k in range(1, 5)] == [1, 4, 3, 1]
    assert 2_400_000 <= found.peak < 2_420_000  # the arrays, and what the interpreter keeps for itself
    times = measured(hold, file.__eq__, memory=False)
    assert times.runs == found.runs and max(times.seconds, key=times.seconds.get) == (file, first + 3)


def test_a_long_run_has_a_curve_of_few_points():
    def count():
        for _ in range(5000):
            pass

    found = measured(count, count.__code__.co_filename.__eq__, memory=True)
    assert found.lines == 10_001 and len(found.curve) * found.stretch >= found.lines and len(found.curve) <= 800


# -- the page as text -------------------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Counts elements, and remembers the text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.counts, self.text, self.inside = {}, "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", CALLS)
def test_what_comes_from_the_program_is_text(name):
    page = page_of(name).html
    found = Elements(page)
    assert found.counts["script"] == 1 and "img" not in found.counts and "iframe" not in found.counts
    assert "url(" not in page and "@import" not in page  # nothing is fetched
    if name == "hostile":
        assert KEY in found.text and "\\u202e" in found.text and "\u202e" not in page


@pytest.mark.parametrize("name, names", [
    ("loop", ["auto, as above", "store", "states", "Segments(2)", "Revolve(2)"]),
    ("states", ["states, as above", "auto", "store", "Segments(2)", "Revolve(2)"]),
])  # fmt: skip
def test_the_memory_of_all_policies_stands_side_by_side(name, names):
    assert re.findall(r"<figcaption><b>([^<]*)</b>", page_of(name).html) == names


def test_without_arguments_the_text_of_the_last_call_is_shown_unmeasured():
    made = grad(loss)
    made(W, X, 4)
    page = made.view()
    assert "squashed" in page.html and "Memory" not in page.html and len(repr(page)) < 80
    assert page._repr_html_().startswith("<iframe srcdoc=")


def test_a_pullback_is_a_part_of_the_run(tmp_path, capsys):
    (tmp_path / "sines_of_a_page.py").write_text("import numpy as np\n\ndef f(x):\n    return np.sin(x) * x\n")
    out = tmp_path / "page.html"
    assert main(["html", f"{tmp_path}/sines_of_a_page.py:f", "--args", "float64[5]", "--mode", "vjp", "--profile", "-o", str(out)]) == 0
    assert "def pullback" in Elements(out.read_text()).text and "µs" in out.read_text()
    assert main(["html", f"{tmp_path}/sines_of_a_page.py:f", "--profile", "-o", str(out)]) == 2
    assert "--args" in capsys.readouterr().err


# -- in a browser -----------------------------------------------------------------------------------------------------

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Returns a function that opens the page of a call in a headless Chromium; errors and requests of pages fail the test at its end."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra `browser` brings playwright, which is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    wrong, folder = [], tmp_path_factory.mktemp("pages")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=OPTIONS)

        def open_page(name, width=1300, **options):
            file = folder / f"{name}.html"
            page_of(name).save(file)
            page = browser.new_page(viewport={"width": width, "height": 800}, **options)
            page.on("console", lambda message: wrong.append(message.text))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("request", lambda request: request.url.startswith("file:") or wrong.append(request.url))
            page.goto(file.as_uri())
            return page

        yield open_page
        browser.close()
    assert not wrong


def marked(page):
    return [" ".join(text.split()) for text in page.locator("#made .of.on").all_inner_texts()]


def test_a_click_marks_what_a_statement_became_and_escape_lets_go(opened):
    page = opened("stencil")
    page.locator("#user li", has_text="v = u.copy()").click()
    assert marked(page) == ["v = u.copy()", "vs.append(v)", "d_u += d_v"]
    assert page.locator("#notes > div:visible").locator("li").all_inner_texts() == [
        "→ forward sweep: line 8", "■ saved for the reverse sweep: line 9; v, float64 (4,), 3 × 32 B = 96 B", "← adjoint: line 30",
    ]  # fmt: skip
    page.locator("#user li", has_text="return").hover()
    assert "vs.append(v)" in marked(page)  # what was clicked stays
    page.keyboard.press("Escape")
    assert marked(page) == [] and page.locator("#notes").is_hidden()


def test_a_statement_of_which_nothing_is_left_says_so(opened):
    page = opened("simplified")
    page.locator("#user li", has_text="return").click()
    assert marked(page) == [] and "simplified away" in page.locator("#notes").inner_text()


def test_pointing_at_generated_text_marks_the_statement_and_the_calls_around_it(opened):
    page = opened("loop")
    page.locator("#made li", has_text="1 - h * h").locator(".of").first.hover()
    assert page.locator("#user li.on code").all_inner_texts() == ["return np.tanh(z)"]
    assert page.locator("#user li.around code").all_inner_texts() == ["h = squashed(w @ h + x)"]
    page.locator("#user li", has_text="h = squashed").hover()
    assert any("np.tanh" in text for text in marked(page)) and any("1 - h * h" in text for text in marked(page))


def test_the_keyboard_reaches_every_statement(opened):
    page = opened("loop")
    page.locator("#theme").focus()
    page.keyboard.press("Tab")
    seen = []
    for _ in range(4):
        seen.append(page.locator("#user li:focus").inner_text().split("\n")[-1].strip())
        page.keyboard.press("ArrowDown")
    assert len(set(seen)) >= 3 and marked(page)
    page.keyboard.press("Enter")
    kept = marked(page)
    page.keyboard.press("Tab")  # to the generated text
    assert page.evaluate("document.activeElement.closest('section').id") == "made" and marked(page) == kept


def test_the_page_works_inside_of_a_cell(opened):
    page = opened("hostile")
    page.set_content(f"<main>{page_of('loop')._repr_html_()}</main>")
    inside = page.frame_locator("iframe")
    inside.locator("#user li", has_text="np.tanh").click()
    assert "hs[i] = h" not in marked(inside) and "h = np.tanh(" in marked(inside)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("width", [400, 1300])
def test_nothing_is_wider_than_the_window_or_cut_off(opened, name, width):
    page = opened(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = """body => [...body.querySelectorAll("li, code, td, th, dd, h1, h2, p")].filter(
        element => element.clientWidth && element.scrollWidth > element.clientWidth + 1).length"""
    assert page.locator("body").evaluate(cut) == 0
    outside = """svg => { const box = svg.getBoundingClientRect(); return [...svg.querySelectorAll("text")].filter(text => {
        const at = text.getBoundingClientRect(); return at.left < box.left - 1 || at.right > box.right + 1; }).length; }"""
    assert not any(svg.evaluate(outside) for svg in page.locator("svg").all())


def test_dark_and_light_follow_the_system_and_the_button(opened):
    colours = []
    for scheme in ("light", "dark"):
        page = opened("loop", color_scheme=scheme)
        background = lambda page=page: page.evaluate("getComputedStyle(document.body).backgroundColor")
        colours.append(background())
        page.locator("#theme").click()
        assert background() != colours[-1]
        colours.append(background())
    assert colours[0] == colours[3] != colours[1] == colours[2]
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator("#theme").is_hidden() and page.locator("#made").evaluate("e => e.scrollHeight <= e.clientHeight")
