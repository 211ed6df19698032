"""The site that `make site` builds: no broken link, every page in the navigation, nothing fetched from a network, no page wider than its
window, and a search that works from a disk."""

import functools
import http.server
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages with wide tables, long lines of code, pictures, and generated text.
PAGES = ["index", "13-torch", "knobs", "how-it-works", "tutorials/02-strides", "language/memory", "bench/RESULTS", "ARCHITECTURE"]
WIDTHS = [400, 1300]


def build(folder, *options):
    """MkDocs in strict mode, where a warning is an error."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("MkDocs Material is not installed: make site does it")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_site(site):
    pages = {path.relative_to(DOCS).with_suffix(".html").as_posix().replace("README", "index") for path in DOCS.rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).exists()] == []
    assert "Architecture" in (site / "ARCHITECTURE.html").read_text()


def test_a_broken_link_is_an_error(tmp_path):
    """Also one to a file outside of docs/, which the hook of the site looks for."""
    shutil.copytree(DOCS, tmp_path / "docs")
    with open(tmp_path / "docs" / "2-performance.md", "a") as page:
        page.write("\n[gone](nowhere.md), [anchor](1-quick-start.md#nowhere), [outside](../NOWHERE.md), [there](../ARCHITECTURE.md)\n")
    settings = (ROOT / "mkdocs.yml").read_text().replace("docs_dir: docs", f"docs_dir: {tmp_path / 'docs'}")
    (tmp_path / "mkdocs.yml").write_text(settings.replace("docs/site/hooks.py", str(DOCS / "site" / "hooks.py")))
    done = build(tmp_path / "site", "--config-file", str(tmp_path / "mkdocs.yml"))
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr and "#nowhere" in done.stderr and "NOWHERE.md" in done.stderr and "ARCHITECTURE.md'" not in done.stderr


def test_pages_fetch_nothing_from_a_network(site):
    fetched = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"?https?://[^\s\">]*|<link[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*https?://[^>]*")
    found = {path.name: fetched.findall(path.read_text()) for path in site.rglob("*.html")}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


CHECK = """<!doctype html><html><head><title>[]</title></head><body><script>
const problems = [];
async function check(page, width) {
  const frame = document.createElement("iframe");
  Object.assign(frame.style, {width: `${width}px`, height: "900px", border: 0});
  document.body.append(frame);
  await new Promise((resolve) => { frame.onload = resolve; frame.src = `${page}.html`; });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const root = frame.contentDocument.documentElement;
  if (!frame.contentDocument.querySelector("article h1")) problems.push(`${page} has no heading`);
  if (root.scrollWidth > root.clientWidth) problems.push(`${page} is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
  for (const entry of frame.contentWindow.performance.getEntriesByType("resource"))
    if (!entry.name.startsWith(location.origin)) problems.push(`${page} fetches ${entry.name}`);
  frame.remove();
}
(async () => {
  for (const page of PAGES) for (const width of WIDTHS) await check(page, width);
  document.title = JSON.stringify({problems, checked: PAGES.length * WIDTHS.length});
})();
</script></body></html>"""


@pytest.fixture
def browse(chromium, tmp_path):
    """What a page becomes, and what it wrote to the console, after so many milliseconds."""

    def run(address, budget):
        options = f"--virtual-time-budget={budget}", "--window-size=1300,1000", f"--user-data-dir={tmp_path}"
        done = chromium("--enable-logging=stderr", *options, "--dump-dom", address)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


@pytest.fixture
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_pages_fit_their_windows(site, address, browse):
    check = CHECK.replace("PAGES)", f"{json.dumps(PAGES)})").replace("WIDTHS)", f"{json.dumps(WIDTHS)})")
    (site / "check.html").write_text(check.replace("PAGES.length * WIDTHS.length", str(len(PAGES) * len(WIDTHS))))
    shown, console = browse(f"{address}/check.html", 60000)
    seen = json.loads(re.search(r"<title>(.*?)</title>", shown)[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert console == [] and seen == {"problems": [], "checked": len(PAGES) * len(WIDTHS)}


def test_the_search_works_from_a_disk(site, browse):
    shown, console = browse((site / "index.html").as_uri() + "?q=softmax", 10000)
    assert console == []
    assert "tutorials/03-softmax.html" in "".join(re.findall(r'<a href="([^"]*)" class="md-search-result__link"', shown))
