// The run page: commands that can be copied, links that open what they lead to, and curves that can be asked.
(() => {
  "use strict";
  document.documentElement.classList.remove("no-script");
  const said = document.getElementById("said");

  // Copying works without a network and from a file: where the clipboard's own interface is refused, by selection.
  const copySelected = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  };
  for (const button of document.querySelectorAll("button.copy")) {
    const code = button.parentElement.querySelector("code");
    const tell = (word) => {
      button.textContent = word;
      said.textContent = word;
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
    };
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        tell("Copied");
      } catch {
        tell(copySelected(code) ? "Copied" : "Selected: copy it yourself");
      }
    });
  }

  const openTarget = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const data = document.getElementById("data");
  if (typeof Dygraph === "undefined" || !data) return;

  // Amounts and times as the reports write them.
  const units = [["GiB", 2 ** 30, 2], ["MiB", 2 ** 20, 1], ["KiB", 2 ** 10, 1]];
  const amount = (bytes, places) => {
    const [name, size, usual] = units.find((unit) => Math.abs(bytes) >= unit[1]) || ["B", 1, 0];
    return `${(bytes / size).toFixed(places ?? usual)}\u00a0${name}`;
  };
  const instant = (seconds) => `${seconds.toFixed(3)}\u00a0s`;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  const series = (text) => text.split(" ").filter(Boolean).map((word) => {
    const [time, high, less = 0] = word.split(",").map(Number);
    return { time: time / 1e4, high: high * 1024, low: (high - less) * 1024 };
  });
  const read = (raw) => raw && {
    main: series(raw.main), tree: raw.tree && series(raw.tree), end: raw.end / 1e4, label: raw.label,
    phases: raw.phases.map(([time, name], index) => ({
      name, from: time / 1e4, to: (raw.phases[index + 1] || [raw.end])[0] / 1e4,
    })),
    marks: raw.marks.map(([time, name]) => ({ name, time: time / 1e4 })),
    peak: raw.peak && { time: raw.peak[0] / 1e4, high: raw.peak[1] * 1024 },
    steady: raw.steady && {
      from: raw.steady[0] / 1e4, first: raw.steady[1] * 1024, to: raw.steady[2] / 1e4, last: raw.steady[3] * 1024,
    },
  };

  // The last of the points up to a time.
  const at = (points, time) => {
    let found = points[0];
    for (const point of points) {
      if (point.time > time) break;
      found = point;
    }
    return found;
  };

  class CurveView {
    constructor(figure, raw) {
      this.curves = raw.repetitions.map(read);
      this.baseline = raw.baseline && series(raw.baseline);
      this.shown = raw.shown;
      this.fromZero = true;
      this.figure = figure;
      this.live = figure.querySelector(".live");
      this.build();
      figure.classList.add("is-live");
      this.draw();
    }

    get curve() { return this.curves[this.shown]; }

    build() {
      const known = this.curves.map((curve, index) => [curve, index]).filter(([curve]) => curve);
      if (known.length > 1) this.live.append(this.choices(known));
      this.plot = document.createElement("div");
      this.plot.className = "plot";
      this.plot.tabIndex = 0;
      this.plot.setAttribute("role", "application");
      this.plot.setAttribute("aria-label",
        "Memory curve: arrow keys walk along the readings, + and - zoom, Escape shows all");
      this.reading = document.createElement("p");
      this.reading.className = "reading";
      this.reading.setAttribute("aria-live", "polite");
      const zero = document.createElement("button");
      zero.type = "button";
      zero.textContent = "From zero";
      zero.setAttribute("aria-pressed", "true");
      zero.addEventListener("click", () => {
        this.fromZero = !this.fromZero;
        zero.setAttribute("aria-pressed", String(this.fromZero));
        this.graph.updateOptions({ valueRange: this.range() });
      });
      const all = document.createElement("button");
      all.type = "button";
      all.textContent = "Show all";
      all.addEventListener("click", () => this.showAll());
      const row = document.createElement("div");
      row.className = "choices";
      row.append(zero, all);
      this.live.append(this.plot, this.reading, row);
      this.plot.addEventListener("keydown", (event) => this.key(event));
      this.idle();
    }

    choices(known) {
      const set = document.createElement("fieldset");
      set.className = "choices";
      const legend = document.createElement("legend");
      legend.textContent = "repetition";
      set.append(legend);
      for (const [curve, index] of known) {
        const label = document.createElement("label");
        const input = document.createElement("input");
        input.type = "radio";
        input.name = `repetition-${this.figure.dataset.index}`;
        input.checked = index === this.shown;
        input.addEventListener("change", () => {
          this.shown = index;
          this.figure.querySelector(".which").textContent = index + 1;
          this.draw();
          this.idle();
        });
        label.append(input, `${index + 1}`);
        if (curve.label) label.title = `peak ${curve.label}`;
        set.append(label);
      }
      return set;
    }

    idle() {
      const peak = this.curve.label ? `, peak ${this.curve.label}` : "";
      this.reading.textContent = `Repetition ${this.shown + 1}${peak}. Point at the curve, or focus it and use the arrow keys; drag to zoom.`;
    }

    extremes() {
      const all = [...this.curves.filter(Boolean).flatMap((curve) => [...curve.main, ...(curve.tree || [])]),
        ...(this.baseline || [])];
      const highs = all.map((point) => point.high).concat(this.curves.map((curve) => curve?.peak?.high || 0));
      return {
        length: all.reduce((most, point) => Math.max(most, point.time), this.curve.end),
        high: highs.reduce((most, high) => Math.max(most, high), 4096),
        low: all.reduce((least, point) => Math.min(least, point.low), Infinity),
      };
    }

    range() {
      const { high, low } = this.extremes();
      const bottom = this.fromZero ? 0 : Math.max(0, this.visibleLow(low));
      // Room above for the names of phases and marks.
      return [bottom, high + (high - bottom) * 0.18];
    }

    // Fitted, the start of the program, which is always near zero, does not count where it is out of sight.
    visibleLow(low) {
      const [from, to] = this.graph ? this.graph.xAxisRange() : [0, Infinity];
      const seen = [...this.curve.main, ...(this.baseline || [])].filter((point) => point.time >= from && point.time <= to);
      const levels = seen.map((point) => point.low).sort((a, b) => a - b);
      const least = levels[Math.floor(levels.length / 10)] ?? low;
      return least - (this.extremes().high - least) * 0.1;
    }

    draw() {
      const rows = this.curve.main.map((point) => [point.time, point.high]);
      const { length } = this.extremes();
      if (this.graph) {
        this.graph.updateOptions({ file: rows });
        return;
      }
      this.graph = new Dygraph(this.plot, rows, {
        labels: ["time", "resident"], legend: "never", dateWindow: [0, length], valueRange: this.range(),
        color: colour("blue"), strokeWidth: 2.25, animatedZooms: false, xRangePad: 4,
        highlightCircleSize: 4, gridLineWidth: 1, gridLineColor: colour("line"), axisLineColor: colour("line"),
        axes: {
          x: { axisLabelFormatter: (seconds, step) => this.timeLabel(seconds), drawGrid: false, pixelsPerLabel: 90 },
          y: { axisLabelFormatter: (bytes) => amount(bytes), axisLabelWidth: 72, ticker: (a, b, pixels) => this.ticks(a, b, pixels) },
        },
        underlayCallback: (canvas, area, graph) => this.paint(canvas, area, graph),
        highlightCallback: (event, x) => this.tell(x),
        unhighlightCallback: () => this.idle(),
        zoomCallback: () => this.graph.updateOptions({ valueRange: this.range() }),
      });
    }

    timeLabel(seconds) {
      const [from, to] = this.graph ? this.graph.xAxisRange() : [0, 1];
      const span = to - from;
      return span < 1 ? `${(seconds * 1000).toFixed(span < 0.01 ? 1 : 0)}\u00a0ms`
        : span < 120 ? `${+seconds.toFixed(2)}\u00a0s` : `${+(seconds / 60).toFixed(1)}\u00a0min`;
    }

    // Round steps of the unit that suits the largest.
    ticks(low, high, pixels) {
      const [name, size] = units.find((unit) => high >= unit[1]) || ["B", 1];
      const rough = (high - low) / size / Math.max(2, pixels / 50);
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
      const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      const ticks = [];
      for (let index = Math.ceil(low / size / step); index * step * size <= high; index++) {
        const label = index === 0 ? "0" : `${(index * step).toFixed(places)}\u00a0${name}`;
        ticks.push({ v: index * step * size, label });
      }
      return ticks;
    }

    // What lies under the curve: phases, the other repetitions, the baseline, the tree, the steady state and the peak.
    paint(canvas, area, graph) {
      const x = (time) => graph.toDomXCoord(time);
      const y = (bytes) => graph.toDomYCoord(bytes);
      canvas.save();
      canvas.beginPath();
      canvas.rect(area.x, area.y, area.w, area.h);
      canvas.clip();
      this.paintPhases(canvas, area, x);
      const line = (points, name, width, dash = [], opacity = 1) => {
        canvas.beginPath();
        for (const point of points) canvas.lineTo(x(point.time), y(point.high));
        canvas.globalAlpha = opacity;
        canvas.setLineDash(dash);
        canvas.lineWidth = width;
        canvas.strokeStyle = colour(name);
        canvas.stroke();
        canvas.setLineDash([]);
        canvas.globalAlpha = 1;
      };
      this.curves.forEach((curve, index) => {
        if (curve && index !== this.shown) line(curve.main, "quiet", 1, [], 0.4);
      });
      if (this.baseline) line(this.baseline, "green", 1.5, [6, 4]);
      const { tree, main, steady, peak, marks } = this.curve;
      if (tree) line(tree, "purple", 1.5);
      canvas.beginPath();
      for (const point of main) canvas.lineTo(x(point.time), y(point.high));
      for (const point of [...main].reverse()) canvas.lineTo(x(point.time), y(point.low));
      canvas.fillStyle = colour("band");
      canvas.fill();
      if (steady) {
        line([{ time: steady.from, high: steady.first }, { time: steady.to, high: steady.last }], "orange", 1.5, [6, 4]);
      }
      for (const mark of marks) this.paintMark(canvas, area, x(mark.time), mark.name);
      if (peak) this.paintPeak(canvas, x(peak.time), y(peak.high));
      canvas.restore();
    }

    paintPhases(canvas, area, x) {
      const { phases, steady } = this.curve;
      canvas.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      phases.forEach((phase, index) => {
        const [from, to] = [x(phase.from), x(phase.to)];
        canvas.fillStyle = colour("shade");
        if (index % 2 === 0) canvas.fillRect(from, area.y, to - from, area.h);
        const label = this.fitting(canvas, phase.name, Math.min(to, area.x + area.w) - Math.max(from, area.x) - 8);
        canvas.fillStyle = colour("quiet");
        canvas.fillText(label, Math.max(from, area.x) + 4, area.y + 13);
      });
      if (!steady) return;
      canvas.globalAlpha = 0.1;
      canvas.fillStyle = colour("orange");
      canvas.fillRect(x(steady.from), area.y, x(steady.to) - x(steady.from), area.h);
      canvas.globalAlpha = 1;
    }

    fitting(canvas, text, width) {
      if (canvas.measureText(text).width <= width) return text;
      let cut = text;
      while (cut && canvas.measureText(`${cut}…`).width > width) cut = [...cut].slice(0, -1).join("");
      return cut ? `${cut}…` : "";
    }

    paintMark(canvas, area, x, name) {
      canvas.strokeStyle = canvas.fillStyle = colour("purple");
      canvas.lineWidth = 1;
      canvas.setLineDash([2, 3]);
      canvas.beginPath();
      canvas.moveTo(x, area.y + 18);
      canvas.lineTo(x, area.y + area.h);
      canvas.stroke();
      canvas.setLineDash([]);
      canvas.fillText(this.fitting(canvas, name, 140), x + 4, area.y + 28);
    }

    paintPeak(canvas, x, y) {
      canvas.fillStyle = colour("red");
      canvas.beginPath();
      for (const [dx, dy] of [[0, -5], [5, 0], [0, 5], [-5, 0]]) canvas.lineTo(x + dx, y + dy);
      canvas.fill();
    }

    tell(time) {
      const point = at(this.curve.main, time);
      const range = point.low === point.high ? "" : ` (from ${amount(point.low)})`;
      const phase = this.curve.phases.find((phase) => phase.from <= time && time < phase.to);
      const before = this.baseline && at(this.baseline, time);
      this.reading.textContent = [
        `${instant(time)}: ${amount(point.high)}${range}`, phase && `phase ${phase.name}`,
        this.curve.tree && `tree ${amount(at(this.curve.tree, time).high)}`, before && `baseline ${amount(before.high)}`,
      ].filter(Boolean).join(" · ");
    }

    showAll() {
      this.graph.updateOptions({ dateWindow: [0, this.extremes().length] });
      this.graph.updateOptions({ valueRange: this.range() });
    }

    zoom(factor) {
      const [from, to] = this.graph.xAxisRange();
      const row = this.graph.getSelection();
      const centre = row >= 0 ? this.graph.getValue(row, 0) : (from + to) / 2;
      const window = [centre - (centre - from) * factor, centre + (to - centre) * factor];
      const { length } = this.extremes();
      this.graph.updateOptions({ dateWindow: [Math.max(0, window[0]), Math.min(length, window[1])] });
      this.graph.updateOptions({ valueRange: this.range() });
    }

    key(event) {
      const last = this.graph.numRows() - 1;
      const row = this.graph.getSelection();
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
      const places = { Home: 0, End: last };
      if (event.key in steps || event.key in places) {
        const step = steps[event.key];
        const next = step === undefined ? places[event.key] : row < 0 ? (step > 0 ? 0 : last) : row + step;
        const place = Math.min(last, Math.max(0, next));
        this.graph.setSelection(place);
        this.tell(this.graph.getValue(place, 0));
      } else if (event.key === "+" || event.key === "=") {
        this.zoom(0.5);
      } else if (event.key === "-") {
        this.zoom(2);
      } else if (event.key === "Escape") {
        this.graph.clearSelection();
        this.showAll();
        this.idle();
      } else {
        return;
      }
      event.preventDefault();
    }

    restyle() {
      this.graph.updateOptions({
        color: colour("blue"), gridLineColor: colour("line"), axisLineColor: colour("line"),
      });
    }
  }

  const scenarios = JSON.parse(data.textContent);
  const views = new Map();
  const show = (figure) => {
    const view = views.get(figure);
    if (view) view.graph.resize();
    else views.set(figure, new CurveView(figure, scenarios[Number(figure.dataset.index)]));
  };
  for (const figure of document.querySelectorAll("figure.curve")) {
    const scenario = figure.closest("details.scenario");
    if (scenario.open) show(figure);
    scenario.addEventListener("toggle", () => { if (scenario.open) show(figure); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const view of views.values()) view.restyle();
  });
})();
