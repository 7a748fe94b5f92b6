"""Draws the interactive charts of an executed notebook as VS Code's renderer does, in its light and dark themes.

Arguments: Chromium, the folder of the packages, the notebook, the file of the page to write, a file for a picture or "".
"""
import json
import sys

from browser import Browser

chromium, modules, notebook, page, shot = sys.argv[1:6]
MIME = "application/vnd.vegalite.v5+json"
outputs = [o for c in json.load(open(notebook))["cells"] for o in c.get("outputs", [])]
specs = [o["data"][MIME] for o in outputs if MIME in o.get("data", {})]
data = json.dumps(specs).replace("</", "<\\/")
scripts = "".join(f'<script src="file://{modules}/{p}/build/{p}.min.js"></script>' for p in ("vega", "vega-lite", "vega-embed"))
with open(page, "w") as f:
    f.write(f"""<!doctype html><meta charset="utf-8"><title>VS Code</title>{scripts}<script>
window.said = [];
for (const kind of ["warn", "error"]) console[kind] = (...text) => said.push(text.join(" "));
async function draw(dark) {{
  document.body.replaceChildren();
  Object.assign(document.body.style, dark ? {{background: "#1e1e1e", color: "#cccccc"}} : {{background: "#ffffff", color: "#333333"}});
  for (const spec of {data}) {{
    const outer = document.body.appendChild(document.createElement("div")), inner = outer.appendChild(document.createElement("div"));
    const options = {{actions: {{export: true, compiled: false, editor: false, source: false}}, defaultStyle: true, mode: "vega-lite"}};
    if (dark && !spec.background) options.theme = "dark";
    await vegaEmbed(inner, spec, options).catch(e => said.push("failed: " + e));
  }}
}}
// The number of charts with marks, and of those on a dark background. This version of Vega draws them as SVG.
function look() {{
  let dark = 0, marked = 0;
  for (const e of document.querySelectorAll("svg.marks")) {{
    const [r, g, b] = getComputedStyle(e).backgroundColor.match(/[0-9.]+/g).map(Number);
    dark += r + g + b < 300;
    marked += e.getBoundingClientRect().width > 200 && e.querySelectorAll(".mark-group path, .mark-text text").length > 5;
  }}
  return `${{marked}} drawn, ${{dark}} of them dark`;
}}
</script><body>""")
with Browser(chromium, "file://" + page) as b:
    b.call("Emulation.setDeviceMetricsOverride", width=900, height=2000, deviceScaleFactor=1, mobile=False)
    b.wait("document.readyState === 'complete' && window.vegaEmbed !== undefined")
    for theme in ("light", "dark"):
        b.js(f"draw({json.dumps(theme == 'dark')}).then(() => true)")
        print(f"{theme}: {len(specs)} charts, {b.js('look()')}")
        if shot:
            b.screenshot(shot.replace(".png", f".{theme}.png"))
    versions = b.js("[vega.version, vegaLite.version, vegaEmbed.version].join(' ')")
    print("versions:", versions)
    for line in sorted(set(b.js("said"))):
        if "spec uses Vega-Lite v5" not in line:  # VS Code draws it with version 6
            print("said:", line)
    print("controls:", b.js("document.querySelectorAll('.vega-bind input:not([type=hidden])').length > 40"))
