// Flame graphs: the calls of a process, callers above and callees below, as wide as the memory that they hold.
(() => {
  "use strict";
  const { make, color, bytes, difference, space } = Charts;
  document.documentElement.classList.remove("no-script");

  const rowHeight = 19, mostRows = 600, leastWidth = 1;
  const numbersPerCall = 6;
  const evidences = [["live", "live blocks", "held"], ["touched", "pages by first touch", "first touched"]];

  /** The calls of one process. Number 0 is the process itself; a caller has a smaller number than its callees. */
  class Calls {
    constructor({ isCompared, functions, calls }) {
      Object.assign(this, { isCompared, functions });
      const count = calls.length / numbersPerCall + 1;
      const column = offset => Float64Array.from({ length: count }, (_, call) => call ? calls[(call - 1) * numbersPerCall + offset] : 0);
      this.parents = Int32Array.from(column(0));
      this.names = Int32Array.from(column(1));
      const kibibytes = offset => column(offset).map(value => value * 1024);
      this.amounts = { live: { now: kibibytes(2), before: kibibytes(4) }, touched: { now: kibibytes(3), before: kibibytes(5) } };
      this.callees = Array.from({ length: count }, () => []);
      for (let call = 1; call < count; call++) this.callees[this.parents[call]].push(call);
      for (const callees of this.callees) callees.sort((a, b) => this.names[a] - this.names[b]);
      for (const sides of Object.values(this.amounts)) for (const amounts of Object.values(sides))
        for (const call of this.callees[0]) amounts[0] += amounts[call];
    }

    name(call) { return call ? this.functions[this.names[call]][0] : "all"; }
    module(call) { return call ? this.functions[this.names[call]][1] : ""; }
    kind(call) { return call ? this.functions[this.names[call]][2] : "system"; }

    *ancestors(call) {
      for (let at = call; at; ) yield at = this.parents[at];
    }

    /** For each function whether its name or its module contains a text. */
    matching(text) {
      const sought = text.trim().toLowerCase();
      return sought ? this.functions.map(([name, module]) => `${name} ${module}`.toLowerCase().includes(sought)) : null;
    }
  }

  /** The drawing of one process's calls, and what is chosen in it. */
  class Flame {
    constructor(figure) {
      this.calls = new Calls(JSON.parse(figure.querySelector("script").textContent));
      this.zoomed = this.chosen = 0;
      this.side = "now";
      const known = evidences.filter(([key]) => this.calls.amounts[key].now[0] + this.calls.amounts[key].before[0] > 0);
      const growth = ([key]) => this.calls.amounts[key].now[0] - this.calls.amounts[key].before[0];
      this.evidence = known.reduce((best, next) => growth(next) > growth(best) ? next : best, known[0] ?? evidences[0]);
      this.canvas = make("canvas");
      this.item = make("span", { className: "visually-hidden", id: `call-${Flame.count = (Flame.count ?? 0) + 1}`, role: "treeitem" });
      this.box = make("div", {
        className: "tree", tabIndex: 0, role: "tree", "aria-activedescendant": this.item.id,
        "aria-label": "Calls; arrow keys move, Enter zooms, Escape shows all",
      }, this.canvas, this.item);
      this.reading = make("p", { className: "reading" });
      this.found = make("span", { className: "quiet", role: "status" });
      figure.querySelector(".live").append(this.controls(known), this.box, this.reading, this.caption());
      this.listen();
      new ResizeObserver(() => this.draw()).observe(this.box);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      this.choose(0);
    }

    // What is shown.

    get now() { return this.calls.amounts[this.evidence[0]].now; }
    get before() { return this.calls.amounts[this.evidence[0]].before; }
    get shown() { return this.calls.amounts[this.evidence[0]][this.side]; }

    controls(known) {
      const search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search functions and files" });
      search.addEventListener("input", () => this.search(search.value));
      const whole = make("button", { type: "button" }, "Show all");
      whole.addEventListener("click", () => this.zoom(0));
      return make("div", { className: "controls" }, search,
        known.length > 1 ? this.choice("memory", known.map(evidence => [evidence[1], evidence]), "evidence") : null,
        this.calls.isCompared ? this.choice("build", [["now", "now"], ["before", "before"]], "side") : null, whole, this.found);
    }

    choice(title, options, property) {
      const set = make("fieldset", { className: "choices" }, make("legend", {}, title));
      for (const [label, value] of options) {
        const input = make("input", { type: "radio", name: `${title}-${this.item.id}`, checked: this[property] === value });
        input.addEventListener("change", () => {
          this[property] = value;
          this.zoom(0);
        });
        set.append(make("label", {}, input, label));
      }
      return set;
    }

    caption() {
      const signs = this.calls.isCompared
        ? [["grown", "more than before"], ["shrunk", "less than before"], ["same", "unchanged"]]
        : [["own", "the program and its libraries"], ["system", "C library and runtime"]];
      return make("figcaption", {}, ...signs.map(([name, text]) =>
        make("span", {}, make("i", { className: `sign ${name}` }), text)));
    }

    // Boxes.

    /** The visible boxes, row by row from left to right. */
    layOut(width) {
      const { calls } = this;
      const path = [...calls.ancestors(this.zoomed)].reverse().concat(this.zoomed);
      const rows = path.map(call => [{ call, x: 0, width, isPath: true }]);
      while (rows.length < mostRows) {
        const next = [];
        for (const box of rows.at(-1)) this.layOutCallees(box, next);
        if (!next.length) break;
        rows.push(next);
      }
      return rows;
    }

    layOutCallees({ call, x, width }, boxes) {
      const { calls, shown } = this;
      let sum = 0;
      for (const callee of calls.callees[call]) sum += shown[callee];
      // Medians of parts may exceed the median of the whole.
      const scale = width / Math.max(sum, shown[call], 1);
      for (const callee of calls.callees[call]) {
        const part = shown[callee] * scale;
        if (part >= leastWidth) boxes.push({ call: callee, x, width: part });
        x += part;
      }
    }

    draw() {
      const width = this.box.clientWidth;
      if (!width) return;
      this.rows = this.layOut(width);
      const height = this.rows.length * rowHeight, ratio = devicePixelRatio || 1;
      this.canvas.width = width * ratio;
      this.canvas.height = height * ratio;
      this.canvas.style.height = `${height}px`;
      const canvas = this.canvas.getContext("2d");
      canvas.scale(ratio, ratio);
      canvas.font = `11px ${getComputedStyle(document.documentElement).getPropertyValue("--monospace") || "monospace"}`;
      this.letter = canvas.measureText("m").width;
      const names = ["ground", "text", "quiet", "orange", "blue", "green", "purple", "focus"];
      this.inks = Object.fromEntries(names.map(name => [name, color(name)]));
      this.largest = this.rows.flat().reduce((most, { call }) => Math.max(most, Math.abs(this.change(call))), 1);
      this.rows.forEach((row, index) => row.forEach(box => this.drawBox(canvas, box, index * rowHeight)));
    }

    change(call) { return this.now[call] - this.before[call]; }

    drawBox(canvas, { call, x, width, isPath }, y) {
      const [ink, opacity] = this.fill(call);
      canvas.globalAlpha = isPath && call !== this.zoomed ? opacity * 0.5 : opacity;
      canvas.fillStyle = this.inks[ink];
      canvas.fillRect(x, y, Math.max(width - 0.5, leastWidth), rowHeight - 1);
      canvas.globalAlpha = 1;
      if (call === this.chosen) {
        canvas.strokeStyle = this.inks.focus;
        canvas.lineWidth = 2;
        canvas.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 1), rowHeight - 3);
      }
      const letters = Math.floor((width - 6) / this.letter);
      if (letters < 3) return;
      canvas.fillStyle = this.inks.text;
      canvas.fillText(this.fitting(this.label(call), letters), x + 3, y + 13);
    }

    /** The ink of a box and how strong it is. What a search found stands out. */
    fill(call) {
      if (this.matches && call && this.matches[this.calls.names[call]]) return ["purple", 0.5];
      const weak = this.matches ? 0.5 : 1;
      if (!this.calls.isCompared) return this.calls.kind(call) === "own" ? ["orange", 0.35 * weak] : ["quiet", 0.22 * weak];
      const change = this.change(call), strength = Math.sqrt(Math.abs(change) / this.largest);
      if (strength < 0.05) return ["quiet", 0.18 * weak];
      return [change > 0 ? "orange" : "blue", (0.12 + 0.38 * strength) * weak];
    }

    label(call) {
      const change = this.calls.isCompared && this.change(call);
      return this.calls.name(call) + (change ? ` ${difference(change, "bytes")}` : "");
    }

    fitting(text, letters) {
      return text.length <= letters ? text : text.slice(0, letters - 1) + "…";
    }

    // Words.

    share(amount, whole) {
      return whole > 0 ? `, ${(amount / whole * 100).toFixed(1)}${space}%` : "";
    }

    words(call) {
      const module = this.calls.module(call), held = this.shown[call], change = this.change(call);
      const compared = this.calls.isCompared ? change ? `, ${difference(change, "bytes")} since before` : ", unchanged" : "";
      return `${this.calls.name(call)}${module && ` (${module})`}: ${bytes(held)} ${this.evidence[2]}`
        + this.share(held, this.shown[0]) + compared;
    }

    // What the reader does.

    choose(call) {
      this.chosen = call;
      this.reading.textContent = this.words(call);
      const siblings = call ? this.calls.callees[this.calls.parents[call]] : [0];
      const states = {
        "aria-label": this.words(call), "aria-level": [...this.calls.ancestors(call)].length + 1, "aria-selected": true,
        "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(call) + 1, "aria-expanded": call === this.zoomed,
      };
      for (const [name, value] of Object.entries(states)) this.item.setAttribute(name, value);
      this.draw();
    }

    zoom(call) {
      this.zoomed = call;
      this.box.scrollTop = 0;
      this.choose(call);
      this.search();
    }

    search(text = this.sought ?? "") {
      this.sought = text;
      this.matches = this.calls.matching(text);
      this.found.textContent = "";
      if (this.matches) {
        const count = this.matches.filter(Boolean).length, held = this.held();
        this.found.textContent = `${count} ${count === 1 ? "function matches" : "functions match"}: ${bytes(held)}` + this.share(held, this.shown[0]);
      }
      this.draw();
    }

    /** What the found functions hold, counted once for each stack. */
    held() {
      const isWithin = new Uint8Array(this.calls.names.length);
      let sum = 0;
      for (let call = 1; call < isWithin.length; call++) {
        if (isWithin[this.calls.parents[call]]) isWithin[call] = 1;
        else if (this.matches[this.calls.names[call]]) {
          isWithin[call] = 1;
          sum += this.shown[call];
        }
      }
      return sum;
    }

    listen() {
      const pointed = event => {
        const area = this.canvas.getBoundingClientRect(), x = event.clientX - area.left;
        const row = this.rows[Math.floor((event.clientY - area.top) / rowHeight)] ?? [];
        return row.find(box => box.x <= x && x < box.x + Math.max(box.width, leastWidth));
      };
      this.canvas.addEventListener("pointermove", event => {
        const box = pointed(event);
        this.reading.textContent = this.words(box ? box.call : this.chosen);
      });
      this.canvas.addEventListener("pointerleave", () => { this.reading.textContent = this.words(this.chosen); });
      this.canvas.addEventListener("click", event => {
        const box = pointed(event);
        if (box) this.zoom(box.call);
      });
      this.box.addEventListener("keydown", event => {
        if (event.ctrlKey || event.altKey || event.metaKey || !this.press(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
      });
    }

    /** Whether the key has a meaning. */
    press(key) {
      const index = this.rows.findIndex(row => row.some(box => box.call === this.chosen)), row = this.rows[index] ?? [];
      const place = row.findIndex(box => box.call === this.chosen);
      const below = (this.rows[index + 1] ?? []).filter(box => this.calls.parents[box.call] === this.chosen);
      const next = {
        ArrowDown: () => below.reduce((most, box) => box.width > (most?.width ?? 0) ? box : most, null)?.call,
        ArrowUp: () => this.calls.parents[this.chosen],
        ArrowLeft: () => row[place - 1]?.call,
        ArrowRight: () => row[place + 1]?.call,
        Home: () => 0,
      }[key];
      if (next) this.choose(next() ?? this.chosen);
      else if (key === "Enter" || key === " ") this.zoom(this.chosen);
      else if (key === "Escape") this.zoom(0);
      else return false;
      this.reveal();
      return true;
    }

    /** Scrolls so that the chosen box is seen. */
    reveal() {
      const index = this.rows.findIndex(row => row.some(box => box.call === this.chosen));
      const top = index * rowHeight, height = this.box.clientHeight;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + rowHeight > this.box.scrollTop + height) this.box.scrollTop = top + rowHeight - height;
    }
  }

  for (const figure of document.querySelectorAll("figure.flame")) {
    const scenario = figure.closest("details");
    const show = () => {
      if (!figure.flame && (!scenario || scenario.open)) figure.flame = new Flame(figure);
    };
    scenario?.addEventListener("toggle", show);
    show();
  }
})();
