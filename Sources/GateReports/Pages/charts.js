// What the pages share: figures in words as the reports write them, the colours of page.css, round ticks, a chart that
// answers to pointer and keyboard, and buttons that copy. Without the chart library the static pictures stay.
"use strict";
const Charts = (() => {
  const space = "\u00a0";
  // Its legend writes style attributes, which the page's policy forbids; what it says, the pages say in their own place.
  if (typeof Dygraph !== "undefined") Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);
  const units = [["GiB", 2 ** 30, 2], ["MiB", 2 ** 20, 1], ["KiB", 1024, 1]];

  /** As in `23.1 MiB`; never rounded up into the next unit's place. */
  function bytes(value) {
    const size = Math.abs(value);
    const [name, unit, places] = units.find(([, unit]) => size >= unit) ?? ["B", 1, Number.isInteger(value) ? 0 : 1];
    return (value / unit).toFixed(name === "KiB" && value % 1024 === 0 ? 0 : places) + space + name;
  }

  /** A figure in a unit of the result file, as in `23.1 MiB/s` or `17 items`. */
  const amount = (value, unit) => isMemory(unit) ? bytes(value) + per(unit) : own(value, unit);

  const isMemory = unit => unit === "bytes" || unit.startsWith("bytes/");

  /** What figures in a unit are counted per. */
  const per = unit => unit.slice("bytes".length).replace("second", "s");

  /** What is written behind figures of which this is the largest, and what 1 of it is worth. */
  function scale(largest, unit) {
    if (isMemory(unit)) return units.find(([, size]) => largest >= size) ?? ["B", 1];
    if (unit !== "seconds") return [unit, 1];
    return largest > 0 && largest < 1 ? ["ms", 0.001] : ["s", 1];
  }

  /** A figure that is none of memory, as in `17 items` or `20 ms`. */
  function own(value, unit) {
    const [name, size] = scale(Math.abs(value), unit);
    return short(value / size) + (name && space + name);
  }

  /** To about four digits, without zeros at the end. */
  const short = value => String(+value.toFixed(Math.abs(value) < 1 ? 4 : Math.abs(value) < 100 ? 2 : Math.abs(value) < 1e4 ? 1 : 0));

  function difference(value, unit) {
    const text = isMemory(unit) ? bytes(value) : own(value, unit);
    return value > 0 && /[1-9]/.test(text) ? "+" + text : text;
  }

  function percent(value) {
    const text = value.toFixed(Math.abs(value) < 1000 ? 1 : 0);
    return (value > 0 && text !== "0.0" ? "+" : "") + (text === "-0.0" ? "0.0" : text) + space + "%";
  }

  /** A colour by its name in page.css. */
  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  /** Round numbers from low to high in about so many steps, in the unit that suits the largest. */
  function ticks(low, high, count, unit, write) {
    const rough = Math.max((high - low) / unit, 1e-9) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find(factor => factor * power >= rough * 0.999) * power;
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const result = [];
    for (let n = Math.ceil(low / unit / step - 1e-9); n * step * unit <= high + step * unit * 1e-9; n++)
      result.push({v: n * step * unit, label: write((n * step).toFixed(places), n)});
    return result;
  }

  const amountTicks = unit => (low, high, pixels) => {
    const [name, size] = scale(Math.max(Math.abs(low), Math.abs(high)), unit);
    const ending = (name && space + name) + (isMemory(unit) ? per(unit).replace("iteration", "iter") : "");
    return ticks(low, high, Math.max(2, pixels / 44), size, (text, n) => n === 0 ? "0" : harmless(text + ending));
  };

  const percentTicks = (low, high, pixels) =>
    ticks(low, high, Math.max(2, pixels / 44), 1, (text, n) => (n > 0 ? "+" : "") + text + space + "%");

  /** An element with properties and children; a string is text and never markup. */
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
  }

  /** The library writes axis labels as markup. */
  const harmless = text => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);

  /**
   * A chart in an element: `rows` and `options` are dygraphs', `mark(context, area, graph)` draws beneath the lines,
   * `choose(row)` and `pin(row)` tell of pointer and keyboard, `zoom(low, high)` of a range and without arguments of all,
   * `describe(row)` is the row in words. Null without the library.
   */
  function chart(element, {rows, options, label, mark, choose, pin, zoom, describe}) {
    if (typeof Dygraph === "undefined") return null;
    let chosen = rows.length - 1;
    const plot = make("div", {className: "plot", tabIndex: 0});
    const cursor = make("div", {className: "cursor"});
    element.append(plot);
    const graph = new Dygraph(plot, rows, {
      animatedZooms: false, highlightCircleSize: 3.5, strokeWidth: 1.6, xRangePad: 8, yRangePad: 6,
      drawPoints: rows.length <= 60, pointSize: 2, axisLabelFontSize: 11, axisLineColor: color("line"),
      gridLineColor: color("line"), gridLineWidth: 0.6, fillAlpha: 0.18,
      underlayCallback: mark,
      highlightCallback: (event, x, points, row) => choose(row),
      clickCallback: () => pin(chosen),
      zoomCallback: (low, high) => graph.isZoomed("x") ? zoom(low, high) : (graph.isZoomed("y") && graph.resetZoom(), zoom()),
      ...options,
    });
    plot.append(cursor);
    for (const [name, value] of Object.entries({role: "slider", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": rows.length}))
      plot.setAttribute(name, value);
    const steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity};
    plot.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const [low, high] = graph.xAxisRange();
      const middle = rows[chosen]?.[0];
      if (event.key in steps) choose(Math.min(rows.length - 1, Math.max(0, chosen + steps[event.key])));
      else if (event.key === "Enter" || event.key === " ") pin(chosen);
      else if (event.key === "+" || event.key === "=") zoom(Math.max(low, middle - (high - low) / 4), Math.min(high, middle + (high - low) / 4));
      else if (event.key === "-") zoom();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    // The library keeps the pointer's default from the plot, focus too.
    plot.addEventListener("pointerdown", () => plot.focus({preventScroll: true}));
    plot.addEventListener("focus", () => choose(chosen));
    return {
      graph, plot,
      /** Shows a row as chosen, without telling of it. */
      show(row) {
        chosen = row;
        graph.setSelection(row);
        const area = graph.getArea(), x = graph.toDomXCoord(rows[row][0]);
        const isSeen = x >= area.x - 1 && x <= area.x + area.w + 1;
        cursor.hidden = !isSeen;
        Object.assign(cursor.style, {left: `${Math.round(x)}px`, top: `${area.y}px`, height: `${area.h}px`});
        plot.setAttribute("aria-valuenow", row + 1);
        plot.setAttribute("aria-valuetext", describe(row));
      },
      remove() {
        graph.destroy();
        plot.remove();
      },
    };
  }

  /** By the clipboard's own interface, or by selection where a browser refuses that to a file. */
  async function copy(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(element);
      return document.execCommand("copy");
    }
  }

  /** Has a button copy an element's text; what came of it stands on the button for a moment, and is given to `say`. */
  function copies(button, element, say) {
    button.addEventListener("click", async () => {
      button.textContent = await copy(element) ? "Copied" : "Selected: copy it yourself";
      say(button.textContent);
      setTimeout(() => { button.textContent = "Copy"; say(""); }, 2000);
    });
  }

  return {
    bytes, amount, isMemory, difference, percent, color, amountTicks, percentTicks, make, harmless, chart, copies, space,
  };
})();
