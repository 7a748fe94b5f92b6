// Reads specifications as {"name": spec, ...} from standard input. Validates each against the
// schema of Vega-Lite, draws it in Vega's light and dark themes, and writes for each what went
// wrong: {"name": ["error", ...], ...}.
const fs = require("fs");
const path = require("path");
const modules = process.argv[2];
const need = (name) => require(path.join(modules, name));
const vega = need("vega"), lite = need("vega-lite"), Ajv = need("ajv");

const schema = JSON.parse(fs.readFileSync(path.join(modules, "vega-lite/build/vega-lite-schema.json")));
delete schema.$schema;
const ajv = new Ajv({ strict: false });
need("ajv-formats")(ajv);
ajv.addFormat("color-hex", /^#[0-9a-f]{3,8}$/i);
const valid = ajv.compile(schema);

// Vega's themes as far as colours depend on them.
const themes = { light: {}, dark: { background: "#333", title: { color: "#fff" } } };

async function check(spec) {
  const errors = [];
  if (!valid(spec)) errors.push("schema: " + ajv.errorsText(valid.errors).slice(0, 500));
  const note = (...text) => {
    const line = text.join(" ");
    if (!line.startsWith("Can not resolve event source")) errors.push(line); // there is no window here
    return logger;
  };
  const quiet = () => logger;
  const logger = { level: quiet, info: quiet, debug: quiet, warn: note, error: note };
  const colors = {};
  for (const [name, config] of Object.entries(themes)) {
    const view = new vega.View(vega.parse(lite.compile(spec, { config, logger }).spec), { renderer: "none", logger });
    const svg = await view.toSVG();
    colors[name] = (svg.match(/(fill|stroke)="#[0-9a-f]{6}"/g) || []).sort().join();
    if (/NaN|undefined/.test(svg.replace(/>[^<]*</g, "><").replace(/aria-label="[^"]*"/g, ""))) errors.push(name + ": the picture has a place that is not a number");
  }
  if (colors.light === colors.dark && !spec.background) errors.push("light and dark have the same colours");
  if (colors.light !== colors.dark && spec.background) errors.push("a fixed theme follows the front end");
  return errors;
}

(async () => {
  const result = {};
  for (const [name, spec] of Object.entries(JSON.parse(fs.readFileSync(0)))) {
    try {
      result[name] = await check(spec);
    } catch (e) {
      result[name] = [String(e)];
    }
  }
  console.log(JSON.stringify(result));
})();
