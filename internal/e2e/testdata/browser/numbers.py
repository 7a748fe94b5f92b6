"""Flips a bit of a number, and moves the knob of a loss scale while a cell trains."""
import sys

from browser import Browser

chromium, base, token = sys.argv[1:4]
address = f"{base}lab/tree/numbers.ipynb?token={token}"

with Browser(chromium, address) as b:
    b.notebook()
    b.run_all()
    button = ".jp-OutputArea .widget-toggle-button:last-of-type"
    number = "document.querySelector('.widget-text input')?.value"
    b.wait(f"{number} === '0.1'")
    b.wait("document.querySelectorAll('.jp-OutputArea .widget-toggle-button').length === 16")
    b.click_until(button, lambda: b.js(f"{number} === '0.10003662109375'"), "the flipped bit")
    print("flipped:", b.js(number))
    print("chart:", b.wait("[...document.querySelectorAll('.jp-OutputArea img')].some(e => e.alt.startsWith('0.100036621:'))"))
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5])
    read = "[...document.querySelectorAll('.jp-OutputArea')].at(-1).innerText"
    b.wait(f"{read}.includes('of') && {read}.includes('skipped')")
    sliders = "[...document.querySelectorAll('.noUi-handle')]"
    b.js(f"{sliders}.at(-1).id = 'knob'")
    b.drag("#knob", -60)
    print("turned while the cell trains:", b.wait(f"{read}.includes('the scale is lower')"))
    if len(sys.argv) > 5:
        b.screenshot(sys.argv[5].replace(".png", ".knob.png"))
