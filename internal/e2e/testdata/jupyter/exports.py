"""Converts an executed notebook with nbconvert, and counts the pictures of charts in each result.

Arguments: Chromium, the notebook, its page by halfnote, a folder for the results. The title of each chart is "Chart N: Name".
"""
import os
import re
import sys

import nbformat
import playwright.async_api
import pypdfium2
from nbconvert import HTMLExporter, LatexExporter, MarkdownExporter, WebPDFExporter

chromium, notebook, page, folder = sys.argv[1:5]
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "browser"))
from browser import Browser

os.environ["PATH"] = os.path.dirname(chromium)  # without the programs that nbconvert asks to convert an SVG
launch = playwright.async_api.BrowserType.launch
playwright.async_api.BrowserType.launch = lambda self, **options: launch(self, executable_path=chromium, **options)

nb = nbformat.read(notebook, 4)
charts = [o for c in nb.cells for o in c.get("outputs", []) if "image/png" in o.get("data", {})]
titles = [o.metadata["image/png"]["alt"] for o in charts]
assert len(set(titles)) == len(titles), titles

# What a page of the width of paper shows of each picture. A picture that is wider than the page is cut off in print.
SHOWN = """(() => { const wide = document.documentElement.clientWidth;
  return [...document.images].map(i => ({alt: i.alt, drawn: i.naturalWidth > 100, cut: i.getBoundingClientRect().right > wide})); })()"""


def look(name, file):
    with Browser(chromium, "about:blank") as b:
        b.call("Emulation.setDeviceMetricsOverride", width=700, height=1000, deviceScaleFactor=1, mobile=False)
        b.call("Emulation.setEmulatedMedia", media="print")
        b.call("Page.navigate", url="file://" + file)
        b.wait("document.readyState === 'complete' && location.protocol === 'file:'")
        images = b.js(SHOWN)
    drawn = [i for i in images if i["drawn"]]
    named = sorted(i["alt"] for i in drawn) == sorted(titles)
    print(f"{name}: {len(drawn)} of {len(titles)} charts, alt texts: {named}, cut off: {sum(i['cut'] for i in drawn)}")


def write(name, content):
    file = os.path.join(folder, name)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return file


look("halfnote", page)
look("nbconvert, HTML", write("page.html", HTMLExporter().from_notebook_node(nb)[0]))

text, _ = MarkdownExporter().from_notebook_node(nb)
named = sorted(re.findall(r'<img alt="([^"]+)" width="\d+" src="data:image/svg', text)) == sorted(titles)
print(f"nbconvert, Markdown: alt texts: {named}")

text, resources = LatexExporter().from_notebook_node(nb, {"unique_key": "latex", "output_files_dir": "files"})
used = [f for f in resources["outputs"] if f.endswith(".png") and "{" + f + "}" in text]
print(f"nbconvert, LaTeX: {len(used)} of {len(titles)} charts")

for wait in 100, 3000, 15000:  # nbconvert prints the page after a fixed time in ms, on a busy machine before all pictures are there
    data, _ = WebPDFExporter(disable_sandbox=True, page_render_timeout=wait).from_notebook_node(nb)
    write("page.pdf", data)
    found = set()
    for sheet in pypdfium2.PdfDocument(data):
        text = re.sub(r"\s", "", sheet.get_textpage().get_text_range())  # pdfium reads some drawings letter by letter
        found |= set(re.findall(r"Chart(\d+):", text))
    if len(found) == len(titles):
        break
print(f"nbconvert, PDF: titles of {len(found)} of {len(titles)} charts")
