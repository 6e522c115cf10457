// The run page: commands that can be copied, links that open what they lead to, and curves that show their readings.
(() => {
  "use strict";
  const { make, color, bytes, space } = Charts;
  document.documentElement.classList.remove("no-script");
  const said = document.getElementById("said");

  for (const button of document.querySelectorAll("button.copy")) {
    Charts.copies(button, button.parentElement.querySelector("code"), words => { said.textContent = words; });
  }

  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    const scenario = target?.closest("details");
    if (!scenario) return;
    scenario.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", openTarget);
  openTarget();

  if (typeof Dygraph === "undefined") return;

  const instant = seconds => seconds.toFixed(3) + space + "s";

  /** Points of `TIME,HIGH,LESS` words: tenths of a millisecond, KiB, and by how much the lowest of the group is lower. */
  const series = text => text.split(" ").filter(Boolean).map(word => {
    const [time, high, less = 0] = word.split(",").map(Number);
    return { time: time / 1e4, high: high * 1024, low: (high - less) * 1024 };
  });

  const read = raw => raw && {
    main: series(raw.main), tree: raw.tree && series(raw.tree), end: raw.end / 1e4, label: raw.label,
    phases: raw.phases.map(({ time, name }, index) => ({
      name, from: time / 1e4, to: (raw.phases[index + 1]?.time ?? raw.end) / 1e4,
    })),
    marks: raw.marks.map(({ time, name }) => ({ name, time: time / 1e4 })),
    peak: raw.peak && { time: raw.peak[0] / 1e4, high: raw.peak[1] * 1024 },
    steady: raw.steady && [
      { time: raw.steady[0] / 1e4, high: raw.steady[1] * 1024 }, { time: raw.steady[2] / 1e4, high: raw.steady[3] * 1024 },
    ],
  };

  const last = (points, time) => points.findLast(point => point.time <= time) ?? points[0];

  /** The curves of one scenario, one of them shown in full. */
  class Curves {
    constructor(figure, raw) {
      this.figure = figure;
      this.all = raw.repetitions.map(read);
      this.baseline = raw.baseline && series(raw.baseline);
      this.side = raw.side;
      this.shown = raw.shown;
      this.bottom = raw.bottom && raw.bottom * 1024;
      this.isFromZero = !this.bottom;
      this.box = make("div");
      this.reading = make("p", { className: "reading", "aria-live": "polite" });
      const zero = make("button", { type: "button", "aria-pressed": this.isFromZero }, "From zero");
      zero.addEventListener("click", () => {
        this.isFromZero = !this.isFromZero;
        zero.setAttribute("aria-pressed", this.isFromZero);
        this.zoom(...this.chart.graph.xAxisRange());
      });
      const whole = make("button", { type: "button", className: "whole" }, "Show all");
      whole.addEventListener("click", () => this.zoom());
      figure.querySelector(".live").append(
        ...this.choices(), this.box, this.reading, make("div", { className: "choices" }, zero, whole));
      figure.classList.add("is-live");
      this.draw();
    }

    get curve() { return this.all[this.shown]; }

    choices() {
      const known = [...this.all.keys()].filter(index => this.all[index]);
      if (known.length < 2) return [];
      const set = make("fieldset", { className: "choices" }, make("legend", {}, "repetition"));
      for (const index of known) {
        const input = make("input", { type: "radio", name: `repetition-${this.figure.dataset.index}`, checked: index === this.shown });
        input.addEventListener("change", () => {
          this.shown = index;
          this.figure.querySelector(".which").textContent = index + 1;
          this.draw();
        });
        set.append(make("label", { title: `peak ${this.all[index].label}` }, input, `${index + 1}`));
      }
      return [set];
    }

    draw() {
      this.chart?.remove();
      this.chart = undefined;
      const time = { axisLabelFormatter: seconds => this.timeLabel(seconds), drawGrid: false, pixelsPerLabel: 90 };
      const rows = this.curve.main.map(point => [point.time, point.high]);
      this.chart = Charts.chart(this.box, {
        rows, label: "Resident memory over time; + and - zoom, Escape shows all",
        options: {
          labels: ["time", "resident"], colors: [color("blue")], strokeWidth: 2.25, gridLineWidth: 1, drawPoints: false,
          dateWindow: [0, this.length], valueRange: this.range(0, this.length),
          axes: { x: time, y: { axisLabelFormatter: bytes, axisLabelWidth: 72, ticker: this.ticks } },
        },
        mark: (canvas, area, graph) => this.paint(canvas, area, graph),
        choose: row => this.choose(row), pin: () => {}, zoom: (low, high) => this.zoom(low, high),
        describe: row => this.words(row),
      });
      this.chart.plot.addEventListener("keydown", event => {
        if (event.key !== "Escape") return;
        this.zoom();
        this.idle();
      });
      this.idle();
    }

    idle() {
      // The only one needs no number, and may be a warm-up.
      const facts = [this.all.length > 1 && `repetition ${this.shown + 1}`, this.curve.label && `peak ${this.curve.label}`];
      const known = facts.filter(Boolean).join(", ").replace(/^./, first => first.toUpperCase());
      this.reading.textContent = `${known && `${known}. `}Point at the curve, or focus it and use the arrow keys; drag to zoom.`;
    }

    choose(row) {
      this.chart.show(row);
      this.reading.textContent = this.words(row);
    }

    /** A reading in words: when, how much, in which phase, and what tree and baseline held then. */
    words(row) {
      const { time, low, high } = this.curve.main[row];
      const phase = this.curve.phases.find(phase => phase.from <= time && time < phase.to);
      return [
        `${instant(time)}: ${bytes(high)}` + (low === high ? "" : ` (from ${bytes(low)})`), phase && `phase ${phase.name}`,
        this.curve.tree && `tree ${bytes(last(this.curve.tree, time).high)}`,
        this.baseline && `${this.side} ${bytes(last(this.baseline, time).high)}`,
      ].filter(Boolean).join(" · ");
    }

    /** Every line of the picture, that of the baseline too. */
    get lines() {
      const all = this.all.filter(Boolean).flatMap(curve => [curve.main, curve.tree ?? []]);
      return this.baseline ? [...all, this.baseline] : all;
    }

    get length() {
      return this.lines.flat().reduce((most, point) => Math.max(most, point.time), this.curve.end) * 1.01;
    }

    /** Amounts with room above for the names of phases and marks; fitted, a tenth of the readings may lie below. */
    /** None where the phases' names stand. */
    ticks(low, high, pixels) {
      return Charts.amountTicks("bytes")(low, high, pixels).filter(tick => tick.v <= high - (high - low) * 0.1);
    }

    range(from, to) {
      const points = this.lines.flat();
      const high = points.map(point => point.high).concat(this.curve.peak?.high ?? 0).reduce((a, b) => Math.max(a, b), 4096);
      const seen = points.filter(point => from <= point.time && point.time <= to).map(point => point.low).sort((a, b) => a - b);
      const least = seen[Math.floor(seen.length / 10)] ?? 0;
      const isWhole = from <= 0 && to >= this.length;
      const fitted = isWhole && this.bottom ? this.bottom : Math.max(0, least - (high - least) * 0.1);
      const bottom = this.isFromZero ? 0 : fitted;
      return [bottom, high + (high - bottom) * 0.18];
    }

    zoom(low = 0, high = this.length) {
      this.chart.graph.updateOptions({ dateWindow: [low, high], valueRange: this.range(low, high) });
    }

    timeLabel(seconds) {
      const [from, to] = this.chart ? this.chart.graph.xAxisRange() : [0, this.length];
      const [size, name] = to - from < 1 ? [1e-3, "ms"] : to - from <= 120 ? [1, "s"] : [60, "min"];
      return +(seconds / size).toFixed(2) + space + name;
    }

    // What lies under the curve.

    paint(canvas, area, graph) {
      const x = time => graph.toDomXCoord(time), y = amount => graph.toDomYCoord(amount);
      const { main, tree, phases, marks, peak, steady } = this.curve;
      const line = (points, ink, width, dash = []) => {
        canvas.beginPath();
        for (const point of points) canvas.lineTo(x(point.time), y(point.high));
        canvas.setLineDash(dash);
        canvas.lineWidth = width;
        canvas.strokeStyle = color(ink);
        canvas.stroke();
      };
      const shade = (from, to, ink, opacity) => {
        canvas.globalAlpha = opacity;
        canvas.fillStyle = color(ink);
        canvas.fillRect(x(from), area.y, x(to) - x(from), area.h);
        canvas.globalAlpha = 1;
      };
      canvas.save();
      canvas.beginPath();
      canvas.rect(area.x, area.y, area.w, area.h);
      canvas.clip();
      for (const phase of phases) {
        shade(phase.from, phase.to, "text", 0.06);
        line([{ time: phase.from, high: 0 }, { time: phase.from, high: Number.MAX_SAFE_INTEGER }], "line", 1);
      }
      if (steady) shade(steady[0].time, steady[1].time, "orange", 0.1);
      canvas.globalAlpha = 0.4;
      for (const curve of this.all) if (curve && curve !== this.curve) line(curve.main, "quiet", 1);
      canvas.globalAlpha = 1;
      if (this.baseline) line(this.baseline, "green", 1.5, [6, 4]);
      if (tree) line(tree, "purple", 1.5);
      canvas.beginPath();
      for (const point of main) canvas.lineTo(x(point.time), y(point.high));
      for (const point of main.toReversed()) canvas.lineTo(x(point.time), y(point.low));
      canvas.fillStyle = color("band");
      canvas.fill();
      if (steady) line(steady, "orange", 1.5, [6, 4]);
      canvas.setLineDash([]);
      if (peak) this.diamond(canvas, x(peak.time), y(peak.high));
      this.names(canvas, area, x, phases, marks);
      canvas.restore();
    }

    diamond(canvas, x, y) {
      canvas.fillStyle = color("red");
      canvas.beginPath();
      for (const [dx, dy] of [[0, -6], [6, 0], [0, 6], [-6, 0]]) canvas.lineTo(x + dx, y + dy);
      canvas.fill();
      canvas.strokeStyle = color("ground");
      canvas.stroke();
    }

    /** Phases above, marks below them with their upright lines; a name that has no room is cut or left out. */
    names(canvas, area, x, phases, marks) {
      canvas.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      canvas.fillStyle = color("quiet");
      for (const phase of phases) {
        const from = Math.max(x(phase.from), area.x) + 4;
        canvas.fillText(this.fitting(canvas, phase.name, Math.min(x(phase.to), area.x + area.w) - from - 4), from, area.y + 13);
      }
      canvas.fillStyle = canvas.strokeStyle = color("purple");
      canvas.lineWidth = 1;
      canvas.setLineDash([2, 3]);
      let free = -Infinity;
      for (const mark of marks) {
        const place = x(mark.time), name = this.fitting(canvas, mark.name, 260);
        canvas.beginPath();
        canvas.moveTo(place, area.y + 18);
        canvas.lineTo(place, area.y + area.h);
        canvas.stroke();
        if (place < free) continue;
        canvas.fillText(name, place + 4, area.y + 28);
        free = place + canvas.measureText(name).width + 8;
      }
    }

    fitting(canvas, text, width) {
      if (canvas.measureText(text).width <= width) return text;
      const letters = [...text];
      while (letters.length > 0 && canvas.measureText(letters.join("") + "…").width > width) letters.pop();
      return letters.length > 0 ? letters.join("") + "…" : "";
    }
  }

  const scenarios = JSON.parse(document.getElementById("data").textContent);
  const shown = new Map();
  function show(figure) {
    if (!shown.has(figure)) shown.set(figure, new Curves(figure, scenarios[Number(figure.dataset.index)]));
  }
  for (const figure of document.querySelectorAll("figure.curve")) {
    const scenario = figure.closest("details.scenario");
    if (scenario.open) show(figure);
    scenario.addEventListener("toggle", () => scenario.open && show(figure));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const curves of shown.values()) curves.draw();
  });
})();
