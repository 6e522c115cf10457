// Shared by the pages: numbers with units as in Format.swift, colours of page.css, axis ticks as in SVGAxis.swift, an
// interactive chart, and copy buttons. Without the chart library the static pictures stay.
"use strict";
const Charts = (() => {
  const space = "\u00a0";
  // Its legend writes style attributes, which the page's policy forbids; the pages show these values elsewhere.
  if (typeof Dygraph !== "undefined") Dygraph.PLUGINS = Dygraph.PLUGINS.filter(plugin => plugin !== Dygraph.Plugins.Legend);
  const units = [["GiB", 2 ** 30, 2], ["MiB", 2 ** 20, 1], ["KiB", 1024, 1]];

  /** As in `23.1 MiB`; rounding does not change the unit. */
  function bytes(value) {
    const size = Math.abs(value);
    const [name, unit, places] = units.find(([, unit]) => size >= unit) ?? ["B", 1, Number.isInteger(value) ? 0 : 1];
    return (value / unit).toFixed(name === "KiB" && value % 1024 === 0 ? 0 : places) + space + name;
  }

  /** A value in a unit of the result file, as in `23.1 MiB/s` or `17 items`. */
  const amount = (value, unit) => isMemory(unit) ? bytes(value) + suffix(unit) : other(value, unit);

  const isMemory = unit => unit === "bytes" || unit.startsWith("bytes/");

  /** As in `/s` or `/iteration`; empty for plain bytes. */
  const suffix = unit => unit.slice("bytes".length).replace("second", "s");

  /** The unit to show values in of which this is the largest, and its size. */
  function scale(largest, unit) {
    if (isMemory(unit)) return units.find(([, size]) => largest >= size) ?? ["B", 1];
    if (unit !== "seconds") return [unit, 1];
    return largest > 0 && largest < 1 ? ["ms", 0.001] : ["s", 1];
  }

  /** A value that is no amount of memory, as in `17 items` or `20 ms`. */
  function other(value, unit) {
    const [name, size] = scale(Math.abs(value), unit);
    return short(value / size) + (name && space + name);
  }

  /** To about four digits, without zeros at the end. */
  const short = value => String(+value.toFixed(Math.abs(value) < 1 ? 4 : Math.abs(value) < 100 ? 2 : Math.abs(value) < 1e4 ? 1 : 0));

  function difference(value, unit) {
    const text = isMemory(unit) ? bytes(value) : other(value, unit);
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

  /** About so many round numbers from low to high, counted in a unit. */
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
    const ending = (name && space + name) + (isMemory(unit) ? suffix(unit).replace("iteration", "iter") : "");
    return ticks(low, high, Math.max(2, pixels / 44), size, (text, n) => n === 0 ? "0" : escaped(text + ending));
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
  const escaped = text => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);

  /**
   * A chart in an element: `rows` and `options` are dygraphs', `mark(context, area, graph)` draws beneath the lines,
   * `choose(row)` and `pin(row)` are called for pointer and keyboard, `zoom(low, high)` for a range and without arguments
   * for all rows, and `describe(row)` returns text for screen readers. Null without the library.
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
    // The library prevents the default action of the pointer, which is to focus.
    plot.addEventListener("pointerdown", () => plot.focus({preventScroll: true}));
    plot.addEventListener("focus", () => choose(chosen));
    return {
      graph, plot,
      /** Shows a row as selected, without calling `choose`. */
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

  /** By the clipboard's interface, or by selection where the browser forbids that for a file. */
  async function copy(element) {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(element);
      return document.execCommand("copy");
    }
  }

  /** Makes a button copy an element's text; the button shows the outcome for a moment, and `say` gets it. */
  function copies(button, element, say) {
    button.addEventListener("click", async () => {
      button.textContent = await copy(element) ? "Copied" : "Selected: press Ctrl+C";
      say(button.textContent);
      setTimeout(() => { button.textContent = "Copy"; say(""); }, 2000);
    });
  }

  return {
    bytes, amount, isMemory, difference, percent, color, amountTicks, percentTicks, make, escaped, chart, copies, space,
  };
})();
