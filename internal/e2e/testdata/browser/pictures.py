"""Takes the README's pictures of cells from the pages of a site.

Arguments: Chromium, the folder of the site, the folder of the pictures.
"""
import base64
import io
import os
import sys

from browser import Browser

sys.path.pop(0)  # numbers.py of this folder is not Python's
from PIL import Image

program, site, images = sys.argv[1:4]

# The page of the lesson, a text that one of its cells has, and the name of the picture.
PICTURES = [
    ("05-three-loops", "amp.GrowthInterval(10)", "loss-scale"),
    ("05-three-loops", "rec.DTypes()", "which-dtype"),
    ("17-what-went-wrong", "diagnose.Overflow(net, step)", "overflow"),
]
PROMPT = 104  # pixels to the left of a cell

with Browser(program, "about:blank") as b:
    b.call("Emulation.setDeviceMetricsOverride", width=1000, height=1400, deviceScaleFactor=1.5, mobile=False)
    for page, text, name in PICTURES:
        url = f"file://{os.path.join(site, page)}.html"
        b.call("Page.navigate", url=url)
        b.wait(f"document.readyState === 'complete' && location.href === {url!r}")
        x, y, width, height = b.wait("""(() => {
            const cell = [...document.querySelectorAll("section.cell.code")].find(c => c.querySelector("pre.source").textContent.includes(%r));
            const pictures = [...cell.querySelectorAll("img")], details = cell.querySelector(".output > details");
            for (const i of pictures) i.loading = "eager";
            if (pictures.some(i => !i.complete || !i.naturalWidth)) return null;
            if (details) details.hidden = true; // the table of a chart
            cell.scrollIntoView();
            const r = cell.getBoundingClientRect();
            return [r.x + scrollX, r.y + scrollY, r.width, r.height];
        })()""" % text)
        clip = {"x": x - PROMPT, "y": y - 4, "width": width + PROMPT + 12, "height": height + 8, "scale": 1}
        picture = b.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB").quantize(256).save(os.path.join(images, name + ".png"), optimize=True)
        print(name, width > 800 and height > 400)
