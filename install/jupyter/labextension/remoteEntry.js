// A JupyterLab extension in the form that JupyterLab loads, a container of modules. When a
// notebook is opened whose kernel has run or is running its cells, it asks the kernel for the
// outputs and puts them into their cells, except for outputs that were cleared by hand. When the theme or the width of the
// notebook changes, it draws interactive charts again, whose colours and width follow only when they are drawn. The inputs
// below interactive charts stand in one row. Go cells are indented by tabs, and a brace that closes a block goes back one level.
"use strict";
(() => {
  const target = "halfnote.outputs";
  const every = 300; // least time between two questions about a running cell, in milliseconds

  // fill makes the outputs of a model equal to a list, and leaves those that are equal already.
  function fill(model, shown, outputs) {
    const texts = outputs.map(o => JSON.stringify(o));
    if (outputs.length < model.length || shown.length !== model.length) {
      model.fromJSON(outputs);
      return texts;
    }
    outputs.forEach((o, i) => {
      if (i >= model.length) model.add(o);
      else if (texts[i] !== shown[i]) model.set(i, o);
    });
    return model.length === texts.length ? texts : [];
  }

  // runs reports whether a cell that this page has sent to the kernel has not ended.
  const runs = cell => cell.model.executionState === "running";

  class Restorer {
    constructor(panel, kernel) {
      this.panel = panel;
      this.kernel = kernel;
      this.running = new Map(); // ids of cells by msg_id of their request
      this.shown = new Map(); // texts of the outputs by id of the cell
      this.timer = 0;
      this.comm = kernel.createComm(target);
      this.comm.onMsg = msg => this.apply(msg.content.data.cells);
      kernel.iopubMessage.connect((_, msg) => this.heard(msg));
      this.comm.open({});
    }

    // heard asks for the outputs of a running cell after each of its messages.
    heard(msg) {
      if (!this.running.has(msg.parent_header.msg_id) || this.timer) return;
      this.timer = setTimeout(() => {
        this.timer = 0;
        if (!this.comm.isDisposed) this.comm.send({cells: [...this.running.values()]});
      }, every);
    }

    // forget tells the kernel which of some cells were cleared.
    forget(cells) {
      const running = [...this.running.values()];
      const empty = w => w.model.type === "code" && w.model.outputs.length === 0 && w.model.executionCount === null && !runs(w) && !running.includes(w.model.id);
      const ids = cells.filter(empty).map(w => w.model.id);
      if (ids.length > 0 && !this.comm.isDisposed) this.comm.send({cleared: ids});
    }

    apply(cells) {
      for (const entry of cells) {
        const cell = this.panel.content.widgets.find(w => w.model.id === entry.cell && w.model.type === "code");
        const known = this.running.has(entry.request);
        // A cell that this page runs, or that was changed here, is not restored.
        if (!cell || runs(cell) || entry.session === this.kernel.clientId || cell.model.sharedModel.getSource() !== entry.source) continue;
        if (!known && !entry.running && cell.model.executionCount === entry.count) continue;
        cell.model.trusted = true; // as when a cell is run
        this.shown.set(entry.cell, fill(cell.model.outputs, this.shown.get(entry.cell) || [], entry.outputs));
        if (entry.running) {
          this.running.set(entry.request, entry.cell);
          cell.setPrompt("*");
        } else {
          this.running.delete(entry.request);
          cell.model.executionCount = entry.count;
          cell.setPrompt(String(entry.count));
        }
      }
    }
  }

  const widest = 900; // charts do not grow in wider notebooks
  const vega = "application/vnd.vegalite.v5+json";

  // redraw draws the interactive charts of a notebook again.
  function redraw(panel) {
    for (const cell of panel.content.widgets) {
      const model = cell.model.outputs;
      for (let i = 0; i < (model?.length ?? 0); i++) {
        const output = model.get(i).toJSON();
        if (output.data?.[vega]) model.set(i, output);
      }
    }
  }

  // fit draws those charts again that were drawn before they were in the page, and are narrower or wider than it. Each is tried twice.
  function fit(panel, tried) {
    for (const cell of panel.content.widgets) {
      cell.outputArea?.widgets.forEach((output, i) => {
        const page = output.node.querySelector(".vega-embed:has(input[name=hint])"), chart = page?.querySelector("canvas.marks");
        if (!chart || !page.clientWidth || chart.clientWidth === 0) return;
        const style = getComputedStyle(page);
        const room = Math.min(page.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), widest);
        const key = `${cell.model.id} ${i}`, times = tried.get(key) ?? 0;
        if (Math.abs(room - chart.clientWidth) < 40 || times >= 2) return;
        tried.set(key, times + 1);
        cell.model.outputs.set(i, cell.model.outputs.get(i).toJSON());
      });
    }
  }

  // closing takes a level of indentation from a line in which only a closing brace is about to be typed.
  function closing(event, view) {
    const at = view.state.selection.main;
    if (event.key !== "}" || event.ctrlKey || event.metaKey || !at.empty || view.state.readOnly) return;
    const line = view.state.doc.lineAt(at.head);
    const level = /^(.*?)(\t| {1,4})$/.exec(view.state.sliceDoc(line.from, at.head));
    if (!level || level[1].trim() !== "" || view.state.sliceDoc(at.head, line.to).trim() !== "") return;
    view.dispatch({changes: {from: line.from + level[1].length, to: at.head}});
  }

  // edit makes the editor of a cell one for Go.
  function edit(cell) {
    const editor = cell?.model?.type === "code" && cell.editor;
    if (!editor || editor.halfnote) return;
    editor.halfnote = true;
    editor.setOption?.("indentUnit", "Tab");
    editor.editor.dom.addEventListener("keydown", event => closing(event, editor.editor), true);
  }

  // The inputs below a chart of halfnote, which has a hint, in the colours of the theme. They are one line that is empty until the pointer
  // or the focus is in the chart, so that nothing moves.
  const inputs = ".vega-bindings:has(input[name=hint])";
  const style = `
    .vega-embed:has(input[name=hint]) { display: block; }
    ${inputs} { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 16px; height: 26px; overflow: hidden; opacity: 0; padding: 0 14px; color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1); }
    .vega-embed:is(:hover, :focus-within) ${inputs} { opacity: 1; }
    .vega-embed:focus-within ${inputs} { height: auto; }
    @media (hover: none) { ${inputs} { opacity: 1; height: auto; } }
    @media print { ${inputs} { display: none; } }
    ${inputs} label { display: flex; align-items: baseline; gap: 4px; white-space: nowrap; }
    ${inputs} .vega-bind:has([name=hint]) { flex: 1 1 14em; min-width: 0; overflow: hidden; color: var(--jp-ui-font-color2); font-size: 11px; }
    ${inputs} .vega-bind:has([name=hint]) span { overflow: hidden; text-overflow: ellipsis; }
    .vega-embed:focus-within ${inputs} .vega-bind:has([name=hint]) label { white-space: normal; }
    @media (hover: none) { ${inputs} .vega-bind:has([name=hint]) label { white-space: normal; } }
    ${inputs} input { width: 11em; padding: 2px 4px; font: inherit; color: inherit; background: var(--jp-layout-color0); border: 1px solid var(--jp-ui-font-color2); border-radius: 2px; }
    ${inputs} input[type=number] { width: 4.5em; }
    ${inputs} input::placeholder { color: var(--jp-ui-font-color2); opacity: 1; }
    .jp-RenderedHTMLCommon figure:has(> img) { overflow-x: auto; }
    .jp-RenderedHTMLCommon figure > img { max-width: max(100%, 480px); }
    .jp-RenderedVegaCommon5 :is(input, summary, a):focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; opacity: 1; }
  `;

  const plugin = {
    id: "halfnote:outputs",
    autoStart: true,
    activate: app => {
      document.head.append(Object.assign(document.createElement("style"), {textContent: style}));
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew: (panel, context) => {
          const session = context.sessionContext;
          let halfnote = false; // whether the kernel is halfnote's
          const theme = new MutationObserver(() => halfnote && redraw(panel));
          theme.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light"]});
          panel.disposed.connect(() => theme.disconnect());
          let width = 0, timer = 0;
          const tried = new Map(); // how often each chart was drawn again to fit
          const size = new ResizeObserver(([entry]) => {
            const now = Math.min(entry.contentRect.width, widest);
            if (now === 0 || Math.abs(now - width) < 8) return; // hidden, or hardly changed
            const first = width === 0;
            width = now;
            if (first) return;
            clearTimeout(timer);
            timer = setTimeout(() => halfnote && !panel.isDisposed && (tried.clear(), redraw(panel)), every);
          });
          size.observe(panel.node);
          let shown = 0;
          const charts = new MutationObserver(() => {
            clearTimeout(shown);
            shown = setTimeout(() => halfnote && !panel.isDisposed && panel.isVisible && fit(panel, tried), every);
          });
          charts.observe(panel.node, {childList: true, subtree: true});
          panel.disposed.connect(() => charts.disconnect());
          panel.disposed.connect(() => size.disconnect());
          let last = null; // kernel connection that was asked
          let restorer = null;
          const cleared = (_, command) => {
            if (restorer === null || !panel.isVisible) return;
            const cells = panel.content.widgets;
            if (command.id === "notebook:clear-all-cell-outputs") restorer.forget(cells);
            if (command.id === "notebook:clear-cell-output") restorer.forget(cells.filter(w => panel.content.isSelectedOrActive(w)));
          };
          app.commands.commandExecuted.connect(cleared);
          panel.content.activeCellChanged.connect((_, cell) => halfnote && cell?.ready.then(() => edit(cell)));
          panel.disposed.connect(() => app.commands.commandExecuted.disconnect(cleared));
          const ask = async () => {
            await context.ready;
            const kernel = session.session?.kernel;
            if (!kernel || kernel === last || kernel.connectionStatus !== "connected") return;
            last = kernel;
            const spec = await kernel.spec; // a busy kernel does not answer a request for its info
            halfnote = spec?.metadata?.halfnote !== undefined;
            if (halfnote && !kernel.isDisposed && !panel.isDisposed) restorer = new Restorer(panel, kernel);
            if (halfnote) edit(panel.content.activeCell);
          };
          session.kernelChanged.connect(ask);
          session.connectionStatusChanged.connect(ask);
          session.statusChanged.connect(ask);
          ask();
        },
      });
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.halfnote = {
    init: () => {},
    get: () => Promise.resolve(() => ({__esModule: true, default: plugin})),
  };
})();
