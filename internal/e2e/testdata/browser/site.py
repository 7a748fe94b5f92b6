"""Reads a site without a server: searches, follows a result, and checks that every page fits a phone.

Arguments: Chromium, the folder of the site, a folder for screenshots or "".
"""
import glob
import os
import sys

from browser import Browser

program, site, shots = sys.argv[1:4]
pages = sorted(glob.glob(os.path.join(site, "*.html")))

# Elements that are wider than the page, unless they scroll inside their own box.
WIDE = """(() => {
  const page = document.documentElement.clientWidth;
  const scrolls = e => e && e !== document.body && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > page + 1 && !scrolls(e)).map(e => e.tagName + " " + e.textContent.slice(0, 60));
})()"""

with Browser(program, "file://" + os.path.join(site, "index.html")) as b:
    def open_page(url):
        b.call("Page.navigate", url=url)
        b.wait(f"document.readyState === 'complete' && location.href === {url!r}")

    # Every page must fit a phone. Screenshots are of all widths and both themes.
    for width in (390, 900, 1600) if shots else (390,):
        for theme in ("light", "dark") if shots else ("light",):
            b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
            b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
            for page in pages:
                open_page("file://" + page)
                wide = b.js(WIDE)
                assert not wide, f"{page} at {width} pixels: wider than the page: {wide[:5]}"
                sheet = b.js("[...document.styleSheets].length && getComputedStyle(document.body).marginTop")
                assert sheet == "0px", f"{page}: the style sheet was not loaded"
                if shots:
                    name = os.path.basename(page).removesuffix(".html")
                    b.screenshot(os.path.join(shots, f"site-{name}-{width}-{theme}.png"))

    open_page("file://" + os.path.join(site, "index.html"))
    assert b.js("document.querySelectorAll('ol.lessons > li').length") == len(pages) - 1
    broken = b.js("[...document.images].filter(i => { i.loading = 'eager'; return i.complete && !i.naturalWidth; }).map(i => i.src)")
    assert not broken, f"charts that are not shown: {broken}"
    b.click("input[name=q]")
    b.call("Input.insertText", text="scaler overflow")
    b.wait("document.querySelectorAll('#found article').length > 0")
    assert b.js("document.querySelectorAll('#found mark').length > 0")
    assert b.js("document.querySelector('ol.lessons').hidden")
    assert b.js("location.hash") == "#q=scaler%20overflow", b.js("location.hash")
    if shots:
        b.screenshot(os.path.join(shots, "site-search.png"))
    b.click("#found article h2 a")
    b.wait("!location.href.includes('index.html') && document.readyState === 'complete'")
    assert b.js("document.getElementById(decodeURIComponent(location.hash.slice(1))) !== null"), b.js("location.href")
    b.js("setTimeout(() => history.back(), 0)")
    b.wait("document.querySelectorAll('#found article').length > 0")
    print("site: ok")
