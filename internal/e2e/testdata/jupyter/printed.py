"""Prints pages of a reader whose system is dark, and measures the contrast of each character on the paper.

Arguments: Chromium, a folder for the printed pages or "", the files of the pages.
"""
import base64
import os
import sys

import numpy
import pypdfium2

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "browser"))
from browser import Browser

program, shots, files = sys.argv[1], sys.argv[2], sys.argv[3:]
SCALE = 4  # pixels per point, so that a stroke of a letter is several pixels wide


# The part of each value of an 8-bit channel in relative luminance (WCAG 2).
levels = numpy.arange(256) / 255
linear = numpy.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4).astype("float32")

with Browser(program, "about:blank") as b:
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for file in files:
        name = os.path.basename(file)
        b.call("Page.navigate", url="file://" + file)
        b.wait("document.readyState === 'complete' && location.protocol === 'file:' && matchMedia('(prefers-color-scheme: dark)').matches")
        for background in (False, True):  # of browsers' "Background graphics"
            pdf = base64.b64decode(b.call("Page.printToPDF", printBackground=background)["data"])
            characters, weak, dark = 0, [], []
            for number, sheet in enumerate(pypdfium2.PdfDocument(pdf)):
                pixels = linear[sheet.render(scale=SCALE, rev_byteorder=True).to_numpy()]
                light = 0.2126 * pixels[..., 0] + 0.7152 * pixels[..., 1] + 0.0722 * pixels[..., 2]
                if (light < 0.1).mean() > 0.15:  # more than letters: the card of a chart, or the page
                    dark.append(number + 1)
                text, height = sheet.get_textpage(), sheet.get_height()
                for i in range(text.count_chars()):
                    left, bottom, right, top = (SCALE * v for v in text.get_charbox(i))
                    box = light[max(int(SCALE * height - top) - 1, 0):int(SCALE * height - bottom) + 2, max(int(left) - 1, 0):int(right) + 2]
                    if right - left < 1 or top - bottom < 1 or not box.size:
                        continue  # a space, or outside the page
                    characters += 1
                    contrast = (box.max() + 0.05) / (box.min() + 0.05)
                    if contrast < 4.5:
                        weak.append(f"{contrast:.1f} on page {number + 1}: {text.get_text_range(max(i - 10, 0), 20)!r}")
            if shots:
                with open(os.path.join(shots, f"printed-{name}{'-background' * background}.pdf"), "wb") as f:
                    f.write(pdf)
            print(f"{name}, backgrounds {background}: {characters > 300}, weak characters {len(weak)}, dark sheets {dark}")
            for line in weak[:20]:
                print("   ", line)
