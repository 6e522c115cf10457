// The trend page: one view at a time, and a link for each. The values come from the element `data` (TrendData.swift).
"use strict";
(() => {
  const {make, bytes, difference, percent, color, space} = Charts;
  const $ = id => document.getElementById(id);
  const root = document.documentElement;
  const data = JSON.parse($("data").textContent);
  const runs = data.runs;

  // MARK: Columns

  function sums(column) {
    let last = 0;
    return column.map(value => value === null ? null : (last += value));
  }
  function spread(pairs) {
    const result = [];
    for (let i = 0; i < pairs.length; i += 2) for (let n = pairs[i]; n > 0; n--) result.push(pairs[i + 1]);
    return result;
  }
  runs.time = sums(runs.time);
  for (const name of ["commit", "subject", "build"]) runs[name] = spread(runs[name]);

  const read = new Map();
  /** A course with its columns as plain values. */
  function courseAt(place) {
    const index = Number(place);
    if (read.has(index)) return read.get(index);
    const raw = data.courses[index];
    const metrics = raw.metrics.map(metric => {
      const scaled = values => values.map(value => value === null ? null : value * metric.unit);
      const mid = scaled(sums(metric.mid)), below = scaled(spread(metric.below)), above = scaled(spread(metric.above));
      const [base, allowed, limit] = [metric.base, metric.allowed, metric.limit].map(column => scaled(spread(column)));
      return {
        name: metric.name, suffix: metric.suffix, creep: metric.creep, mid, base, allowed, limit,
        low: mid.map((value, i) => value === null ? null : value - below[i]),
        high: mid.map((value, i) => value === null ? null : value + above[i]),
        verdict: [...metric.verdict].map(digit => data.verdicts[digit]),
      };
    });
    const course = {
      ...raw, index, metrics, run: sums(raw.run), verdict: [...raw.verdict].map(digit => data.verdicts[digit]),
      folded: spread(raw.folded),
      parts: Object.entries(raw.parts).map(([name, column]) => ({name, values: sums(column).map(v => v === null ? null : v * 1024)})),
    };
    read.set(index, course);
    return course;
  }

  // MARK: The view, and its link

  const defaults = {
    scenario: "", env: "", branch: "", metric: "", x: "order", scale: "absolute", zero: "", from: "", to: "", pin: "",
    q: "", tag: "", state: "", sort: "",
  };
  const ofScenario = ["metric", "x", "scale", "zero", "from", "to", "pin"];
  let view = {...defaults};

  function parsed() {
    const given = new URLSearchParams(location.hash.slice(1));
    return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, given.get(name) ?? value]));
  }
  function link(wanted) {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(wanted)) if (value !== defaults[name]) given.set(name, value);
    return "#" + given;
  }
  /** Goes to a view: as a new place where it is another page, else in the present one's stead. */
  function go(change, isPlace = false) {
    const next = {...view, ...change};
    if (link(next) === link(view)) return;
    history[isPlace ? "pushState" : "replaceState"](null, "", link(next));
    show(next);
  }
  const back = () => go({scenario: "", env: overview.env, branch: overview.branch, ...Object.fromEntries(ofScenario.map(name => [name, defaults[name]]))}, true);
  /** What the overview was filtered by, to come back to. */
  let overview = {env: "", branch: ""};

  function linkTo(course) {
    return link({...view, ...Object.fromEntries(ofScenario.map(name => [name, defaults[name]])), x: view.x, scale: view.scale, zero: view.zero,
      scenario: course.name, env: course.env, branch: course.branch ?? ""});
  }
  function wantedCourse() {
    const fits = (course, name) => (course[name] ?? "") === view[name];
    const named = data.courses.map((course, index) => ({index, isNamed: course.name === view.scenario, score: 2 * fits(course, "env") + fits(course, "branch")}));
    return named.filter(item => item.isNamed).toSorted((a, b) => b.score - a.score)[0]?.index;
  }
  function announce(text) {
    $("announcer").textContent = text;
  }

  // MARK: Overview

  const rows = [...document.querySelectorAll("#courses tbody tr")];
  const latest = values => values.findLast(value => value !== null) ?? null;
  function sortKeys(index) {
    const course = courseAt(index);
    const value = name => latest(course.metrics.find(metric => metric.name === name)?.mid ?? []);
    const change = name => {
      const metric = course.metrics.find(metric => metric.name === name);
      const at = metric?.mid.findLastIndex(value => value !== null) ?? -1;
      return at >= 0 && metric.base[at] ? metric.mid[at] / metric.base[at] - 1 : null;
    };
    const step = course.events.findLast(event => event.kind.endsWith("step"));
    return {
      state: course.state, name: course.name, peak: value("peak_rss"), peakChange: change("peak_rss"),
      steady: value("steady_rss"), steadyChange: change("steady_rss"),
      step: step ? runs.time[course.run[step.at]] : null,
    };
  }
  let keys = null;

  function showOverview() {
    overview = {env: view.env, branch: view.branch};
    for (const name of ["q", "tag", "state", "env", "branch"]) if ($(name).value !== view[name]) $(name).value = view[name];
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const course = data.courses[row.dataset.course];
      const text = row.textContent.toLowerCase();
      const fits = words.every(word => text.includes(word)) && (!view.tag || course.tags.includes(view.tag))
        && (!view.env || course.env === view.env) && (!view.branch || course.branch === view.branch)
        && (!view.state || row.querySelector(".state").textContent.includes(view.state));
      row.hidden = !fits;
      count += fits;
      row.querySelector("a").href = linkTo(course);
    }
    const text = count === rows.length ? `${count} shown` : `${count} of ${rows.length} shown`;
    if ($("count").textContent !== text) $("count").textContent = text;
    sort();
  }

  function sort() {
    const [column, direction] = (view.sort || "state").split("-");
    keys ??= new Map(rows.map(row => [row, sortKeys(row.dataset.course)]));
    const key = row => keys.get(row)[column];
    const sign = direction === "down" ? -1 : 1;
    const compare = (a, b) => a === b ? 0 : a === null || a === undefined ? 1 : b === null || b === undefined ? -1
      : sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
    const order = rows.toSorted((a, b) => compare(key(a), key(b)) || a.dataset.course - b.dataset.course);
    document.querySelector("#courses tbody").append(...order);
    for (const heading of document.querySelectorAll("#courses th[data-sort]")) {
      const isKey = heading.dataset.sort === column;
      heading.setAttribute("aria-sort", isKey ? (sign > 0 ? "ascending" : "descending") : "none");
    }
  }

  for (const heading of document.querySelectorAll("#courses th[data-sort]")) {
    const button = make("button", {type: "button", className: "sort"});
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const [column, direction] = (view.sort || "state").split("-");
      const name = heading.dataset.sort;
      // Figures are read from the largest on.
      const first = ["state", "name"].includes(name) ? "up" : "down";
      go({sort: column === name && (direction ?? "up") === first ? `${name}-${first === "up" ? "down" : "up"}` : `${name}-${first}`});
    });
  }
  $("filters").addEventListener("submit", event => event.preventDefault());
  for (const name of ["q", "tag", "state", "env", "branch"])
    $(name).addEventListener("input", () => go({[name]: $(name).value}));
  for (const row of rows)
    row.addEventListener("click", event => {
      if (!event.target.closest("a") && !getSelection().toString()) row.querySelector("a").click();
    });

  function walk(step) {
    const links = [...document.querySelectorAll("#courses tbody tr:not([hidden]) a")];
    if (view.scenario) {
      const at = links.findIndex(a => a.closest("tr").dataset.course === String(open?.course.index));
      links[Math.min(links.length - 1, Math.max(0, at + step))]?.click();
      return;
    }
    const at = links.indexOf(document.activeElement?.closest("tr")?.querySelector("a"));
    links[at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isTyping = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") {
      if (isTyping) event.target.blur();
      else if (open?.from) go({from: "", to: ""});
      else if (view.pin) go({pin: ""});
      else if (view.scenario) back();
      else return;
    } else if (isTyping) {
      if (event.target.id !== "q" || !["ArrowDown", "Enter"].includes(event.key)) return;
      walk(1);
    } else if (event.key === "/") {
      if (view.scenario) back();
      $("q").focus();
      $("q").select();
    } else if (event.key === "j" || event.key === "ArrowDown" && !view.scenario) walk(1);
    else if (event.key === "k" || event.key === "ArrowUp" && !view.scenario) walk(-1);
    else return;
    event.preventDefault();
  });

  // MARK: A scenario

  /** The scenario that is shown: its course, charts, chosen entry and range of entries. */
  let open = null;
  const idOf = (course, entry) => runs.id[course.run[entry]];
  const entryOf = (course, id) => id ? course.run.findIndex(run => runs.id[run] === id) : -1;
  const commitOf = entry => runs.commit[open.course.run[entry]];
  const short = commit => commit === null ? "–" : commit.slice(0, 9);
  const when = entry => new Date(runs.time[open.course.run[entry]] * 1000).toISOString().slice(0, 16).replace("T", space);
  const isCommit = text => /^[0-9a-z]{4,64}$/i.test(text ?? "");
  const isAddress = text => /^https?:\/\/[^\s]+$/i.test(text ?? "");

  function external(address, ...content) {
    return isAddress(address) ? make("a", {href: address, target: "_blank", rel: "noopener noreferrer"}, ...content) : make("span", {}, ...content);
  }

  function showScenario(index) {
    const course = courseAt(index);
    const section = $(`course-${index}`);
    const isNew = open?.course !== course, lastChosen = open?.chosen;
    const focused = isNew ? null : document.activeElement?.closest(".plot")?.closest("figure");
    close();
    const from = entryOf(course, view.from), to = entryOf(course, view.to), pin = entryOf(course, view.pin);
    const range = from >= 0 && to > from ? [from, to] : null;
    open = {course, section, from: range !== null, range, pin, charts: [], chosen: !isNew ? lastChosen : pin >= 0 ? pin : course.run.length - 1};
    section.classList.remove("closed");
    tools();
    for (const figure of section.querySelectorAll("figure")) {
      const isShown = !view.metric || figure.dataset.metric === view.metric;
      figure.hidden = !isShown;
      figure.classList.toggle("alone", view.metric !== "");
      if (isShown) draw(figure);
    }
    choose(open.chosen);
    focused?.querySelector(".plot")?.focus({preventScroll: true});
    if (isNew) {
      scrollTo(0, 0);
      section.querySelector("h2").focus({preventScroll: true});
      document.title = `${course.name} – Memory trend`;
    }
  }

  /** The charts stay as they are, so that a double click is not cut in two. */
  function showPin() {
    open.pin = entryOf(open.course, view.pin);
    for (const chart of open.charts) chart.graph.updateOptions({});
    choose(open.chosen);
  }

  function close() {
    if (!open) return;
    for (const chart of open.charts) chart.remove();
    for (const figure of open.section.querySelectorAll("figure")) {
      figure.classList.remove("live");
      figure.querySelector(".stage")?.remove();
    }
    open.section.classList.add("closed");
    open = null;
  }

  /** A choice of a few values of one part of the view. */
  function choice(label, name, options) {
    const select = make("select", {id: `tool-${name}`});
    for (const [value, text] of options) select.append(make("option", {value, selected: view[name] === value}, text));
    select.addEventListener("change", () => {
      go({[name]: select.value});
      $(`tool-${name}`)?.focus();
    });
    return make("label", {}, label + " ", select);
  }

  function tools() {
    const {course} = open;
    const siblings = data.courses.filter(other => other.name === course.name);
    const place = make("select", {id: "tool-place"});
    for (const other of siblings)
      place.append(make("option", {value: linkTo(other), selected: other === data.courses[course.index]}, `${other.branch ?? "no branch"} · ${other.env}`));
    place.addEventListener("change", () => { location.hash = place.value; });
    const reset = make("button", {type: "button", hidden: !open.from}, "Whole range");
    reset.addEventListener("click", () => go({from: "", to: ""}));
    const figures = [...open.section.querySelectorAll("figure")].map(figure => figure.dataset.metric);
    open.section.querySelector(".tools").replaceChildren(
      choice("Metric", "metric", [["", "all"], ...figures.map(name => [name, name])]),
      choice("Across", "x", [["order", "commit by commit"], ["date", "by date"]]),
      choice("Up", "scale", [["absolute", "absolute"], ["relative", "relative to the baseline"]]),
      choice("From", "zero", [["", "fitted"], ["1", "zero"]]),
      ...(siblings.length > 1 ? [make("label", {}, "Branch ", place)] : []),
      reset);
  }

  const xOf = entry => view.x === "date" ? runs.time[open.course.run[entry]] * 1000 : entry;
  const nearest = x => {
    const xs = open.course.run.map((_, entry) => xOf(entry));
    return xs.reduce((best, value, entry) => Math.abs(value - x) < Math.abs(xs[best] - x) ? entry : best, 0);
  };

  function draw(figure) {
    const course = open.course;
    const metric = course.metrics.find(metric => metric.name === figure.dataset.metric);
    const isRelative = view.scale === "relative" && metric?.base.some(base => base);
    const relative = (value, entry) => value === null ? null : !isRelative ? value : metric.base[entry] ? (value / metric.base[entry] - 1) * 100 : null;
    const zoom = (low, high) => {
      if (low === undefined) return go({from: "", to: ""});
      const from = nearest(low), to = Math.max(nearest(high), from + 1);
      if (to < course.run.length) go({from: idOf(course, from), to: idOf(course, to)});
    };
    const common = {
      labels: ["x"], ylabel: null, includeZero: view.zero === "1" && !isRelative,
      dateWindow: open.range ? open.range.map(xOf) : null,
      axes: {x: {ticker: runTicks, drawGrid: false, axisLabelWidth: 76}, y: {axisLabelWidth: 66, ticker: isRelative ? Charts.percentTicks : Charts.amountTicks(metric?.suffix ?? "")}},
    };
    // The library stacks the last one lowest.
    const parts = course.parts.toReversed();
    const values = metric
      ? course.run.map((_, i) => [xOf(i), metric.mid[i] === null ? [null, null, null] : [metric.low[i], metric.mid[i], metric.high[i]].map(v => relative(v, i))])
      : course.run.map((_, i) => [xOf(i), ...parts.map(part => part.values[i])]);
    const own = metric
      ? {labels: ["x", metric.name], customBars: true, colors: [color("blue")], ...fitted(metric, relative)}
      : {labels: ["x", ...parts.map(part => part.name)], stackedGraph: true, fillAlpha: 0.45, colors: ["blue", "orange", "purple", "green", "sky"].toReversed().map(color), drawPoints: false};
    const stage = make("div", {className: "stage"});
    figure.querySelector(".picture").after(stage);
    const chart = Charts.chart(stage, {
      rows: values, options: {...common, ...own}, zoom,
      label: `${figure.dataset.metric} of ${course.name}, run by run`,
      mark: metric ? (context, area, graph) => marks(context, area, graph, metric, relative) : undefined,
      choose, pin: row => go({pin: view.pin === idOf(course, row) ? "" : idOf(course, row)}),
      describe: entry => `${when(entry)}, ${short(commitOf(entry))}: ${metric ? inWords(metric, entry) : ""}`,
    });
    if (chart) {
      open.charts.push(chart);
      figure.classList.add("live");
    }
  }

  /** The range that shows the baseline and what it tolerates; noise of a hundredth must not look like a mountain. */
  function fitted(metric, relative) {
    const [first, last] = open.range ?? [0, metric.mid.length - 1];
    const seen = [];
    for (let i = first; i <= last; i++) {
      // What a program that died had used by then would flatten all others.
      if (open.course.verdict[i] === "failed") continue;
      const top = metric.base[i] === null ? null : metric.base[i] + (metric.allowed[i] ?? 0);
      for (const value of [metric.low[i], metric.high[i], metric.base[i], top]) {
        const shown = value === null ? null : relative(value, i);
        if (shown !== null) seen.push(shown);
      }
    }
    if (view.zero === "1") seen.push(0);
    const low = Math.min(...seen), high = Math.max(...seen);
    const least = view.scale === "relative" ? 2 : Math.max(Math.abs(high) / 50, 1);
    const space = Math.max(least - (high - low), 0) / 2 + (high - low) * 0.06;
    return seen.length ? {valueRange: [view.zero === "1" && low >= 0 ? 0 : low - space, high + space]} : {};
  }

  function runTicks(low, high, pixels) {
    const {course} = open, most = Math.max(2, pixels / 90), result = [];
    if (view.x === "date") return Dygraph.dateTicker(low, high, pixels, name => ({pixelsPerLabel: 70, labelsUTC: true, axisLabelFormatter: date => dateLabel(date, high - low)})[name]);
    const first = Math.max(0, Math.ceil(low)), last = Math.min(course.run.length - 1, Math.floor(high));
    const stride = Math.max(1, Math.ceil((last - first + 1) / most));
    for (let i = first; i <= last; i += stride) result.push({v: i, label: Charts.harmless(short(commitOf(i)))});
    return result;
  }
  const dateLabel = (date, span) => span > 3 * 864e5 ? date.toISOString().slice(5, 10) : date.toISOString().slice(11, 16);

  // MARK: What lies beneath the lines

  function marks(context, area, graph, metric, relative) {
    const {course} = open;
    const x = entry => graph.toDomXCoord(xOf(entry)), y = value => graph.toDomYCoord(value);
    const edge = entry => entry > 0 ? (x(entry - 1) + x(entry)) / 2 : x(entry);
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.w, area.h);
    context.clip();
    context.font = "11px system-ui, sans-serif";
    stretches(metric.base, (first, last) => {
      const base = relative(metric.base[first], first), allowed = metric.allowed[first];
      const [left, right] = [edge(first), last + 1 < metric.base.length ? edge(last + 1) : area.x + area.w];
      if (base === null) return;
      if (allowed !== null) {
        const top = relative(metric.base[first] + allowed, first);
        context.fillStyle = color("tolerated");
        context.fillRect(left, y(top), right - left, y(base) - y(top));
      }
      line(context, color("green"), [], left, y(base), right, y(base));
    });
    stretches(metric.limit, (first, last) => {
      const limit = relative(metric.limit[first], first);
      if (limit !== null) line(context, color("red"), [2, 2], edge(first), y(limit), last + 1 < metric.limit.length ? edge(last + 1) : area.x + area.w, y(limit));
    });
    if (metric.creep !== null && metric.mid[metric.creep] !== null) {
      const end = metric.mid.findLastIndex(value => value !== null);
      const [a, b] = [relative(metric.mid[metric.creep], metric.creep), relative(metric.mid[end], end)];
      line(context, color("orange"), [6, 4], x(metric.creep), y(a), x(end), y(b));
      write(context, "↗ creeps from here on", "orange", x(metric.creep) + 2, area.y + 11, "left");
    }
    eventMarks(context, area, metric, relative, {x, y, edge});
    if (open.pin >= 0) line(context, color("text"), [1, 2], x(open.pin), area.y, x(open.pin), area.y + area.h);
    context.restore();
  }

  function eventMarks(context, area, metric, relative, {x, y, edge}) {
    let labelEnd = [-Infinity, -Infinity];
    for (const event of open.course.events) {
      const at = event.at, bottom = area.y + area.h;
      if (event.kind === "environment") line(context, color("quiet"), [1, 4], edge(at), area.y, edge(at), bottom);
      if (event.kind === "trouble") {
        write(context, "✕", "red", x(at), bottom - 4, "center");
        const width = context.measureText(event.label).width + 10;
        const isLeft = x(at) + width > area.x + area.w;
        if (x(at) > labelEnd[1]) write(context, event.label, "red", x(at) + (isLeft ? -7 : 7), bottom - 4, isLeft ? "right" : "left");
        labelEnd[1] = x(at) + width;
      }
      if (event.kind === "approval" && metric.base[at] !== null) {
        const level = relative(metric.base[at], at);
        if (level !== null) write(context, "◆", "green", x(at), y(level) + 4, "center");
      }
      if (event.kind.endsWith("step") && event.metric === metric.name) {
        const ink = event.kind === "step" ? "quiet" : "red";
        line(context, color(ink), event.kind === "step" ? [4, 3] : [], edge(at), area.y, edge(at), bottom);
        const text = (event.kind === "step" ? "△ " : "▲ ") + event.label.split(" (")[0];
        const width = context.measureText(text).width + 8;
        const isLeft = edge(at) + width > area.x + area.w;
        const start = isLeft ? edge(at) - width : edge(at);
        if (start > labelEnd[0]) {
          write(context, text, ink, edge(at) + (isLeft ? -4 : 4), area.y + 11, isLeft ? "right" : "left");
          labelEnd[0] = start + width;
        }
      }
    }
  }

  /** The stretches of equal values. */
  function stretches(values, work) {
    for (let first = 0, i = 1; i <= values.length; i++)
      if (i === values.length || values[i] !== values[first]) {
        if (values[first] !== null) work(first, i - 1);
        first = i;
      }
  }
  function line(context, ink, dashes, x1, y1, x2, y2) {
    context.strokeStyle = ink;
    context.lineWidth = 1.25;
    context.setLineDash(dashes);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.setLineDash([]);
  }
  function write(context, text, ink, x, y, side) {
    context.textAlign = side;
    context.lineWidth = 3;
    context.strokeStyle = color("ground");
    context.strokeText(text, x, y);
    context.fillStyle = color(ink);
    context.fillText(text, x, y);
  }

  // MARK: The chosen run

  const amount = (metric, value) => value === null ? "–" : bytes(value) + metric.suffix;
  function before(metric, entry) {
    for (let i = entry - 1; i >= 0; i--) if (metric.mid[i] !== null) return metric.mid[i];
    return null;
  }
  function inWords(metric, entry) {
    const value = metric.mid[entry];
    if (value === null) return `no ${metric.name}`;
    const last = before(metric, entry), base = metric.base[entry];
    return `${metric.name} ${amount(metric, value)}`
      + (last === null ? "" : `, ${difference(value - last)} since the run before`)
      + (base === null ? "" : `, ${difference(value - base)} against the baseline`);
  }

  function choose(entry) {
    if (!open) return;
    open.chosen = entry;
    for (const chart of open.charts) chart.show(entry);
    readout();
  }

  function readout() {
    const {course, chosen, pin} = open, run = course.run[chosen];
    const commit = runs.commit[run], isPinned = pin === chosen;
    const address = data.commitURL && isCommit(commit) ? data.commitURL.replace("{commit}", commit) : null;
    const events = course.events.filter(event => event.at === chosen);
    const folded = course.folded[chosen];
    const aside = open.section.querySelector(".readout");
    aside.replaceChildren(
      make("div", {className: "run"},
        stepper("‹", "the run before", -1), make("strong", {}, `Run ${chosen + 1} of ${course.run.length}`), stepper("›", "the next run", 1), pinner(isPinned)),
      make("p", {}, when(chosen), " ", make("span", {className: `verdict verdict-${course.verdict[chosen]}`}, course.verdict[chosen])),
      make("p", {}, external(address, make("code", {}, short(commit))), " ", make("span", {className: "subject"}, runs.subject[run] ?? "")),
      make("p", {className: "quiet"}, course.branch ?? "no branch", isAddress(runs.build[run]) ? " · " : null, isAddress(runs.build[run]) ? external(runs.build[run], "build") : null,
        folded ? ` · stands for ${folded} earlier run${folded > 1 ? "s" : ""}, too` : null),
      figuresTable(chosen),
      ...events.map(event => make("p", {className: `event event-${event.kind === "open step" ? "open" : event.kind}`}, event.text)),
      ...range());
  }

  function stepper(sign, label, step) {
    const button = make("button", {type: "button", className: "step", "aria-label": label}, sign);
    button.addEventListener("click", () => {
      choose(Math.min(open.course.run.length - 1, Math.max(0, open.chosen + step)));
      open.section.querySelector(`.readout [aria-label="${label}"]`).focus();
      announce(inWords(open.course.metrics[0], open.chosen));
    });
    return button;
  }
  function pinner(isPinned) {
    const button = make("button", {type: "button", className: "pin", "aria-pressed": isPinned}, isPinned ? "pinned" : "pin");
    button.addEventListener("click", () => go({pin: isPinned ? "" : idOf(open.course, open.chosen)}));
    return button;
  }

  /** A metric's name, that may go on in the next line behind its dots. */
  const breakable = name => name.split(/(?<=\.)/).flatMap(part => [part, make("wbr")]);

  function figuresTable(entry) {
    const parts = open.course.parts.filter(part => part.values[entry]);
    const cell = text => make("td", {className: "number"}, text);
    const body = open.course.metrics.map(metric => {
      const value = metric.mid[entry], last = before(metric, entry), base = metric.base[entry];
      const change = value === null || !base ? "" : percent((value / base - 1) * 100);
      return make("tr", {}, make("th", {scope: "row"}, ...breakable(metric.name)), cell(amount(metric, value)),
        cell(value === null || last === null || value === last ? "" : difference(value - last)),
        make("td", {className: `number verdict-${metric.verdict[entry] ?? "none"}`}, change));
    });
    const head = make("tr", {}, ...["metric", "value", "vs. before", "vs. baseline"].map((text, i) => make("th", {scope: "col", className: i ? "number" : ""}, text)));
    const whole = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
    if (!parts.length) return whole;
    const text = parts.map(part => `${part.name} ${bytes(part.values[entry])}`).join(", ");
    return make("div", {}, whole, make("p", {className: "quiet"}, `At the end: ${text}.`));
  }

  /** The commits from one run to another, as a command to copy. */
  function range() {
    const {chosen, pin} = open;
    const [a, b] = pin >= 0 && pin !== chosen ? [Math.min(pin, chosen), Math.max(pin, chosen)] : open.range ?? [chosen - 1, chosen];
    if (a < 0 || !isCommit(commitOf(a)) || !isCommit(commitOf(b)) || commitOf(a) === commitOf(b)) return [];
    const command = `git log --oneline ${commitOf(a).slice(0, 12)}..${commitOf(b).slice(0, 12)}`;
    const field = make("input", {readOnly: true, value: command, className: "command", "aria-label": "the commits between"});
    const button = make("button", {type: "button"}, "Copy");
    button.addEventListener("click", async () => {
      const isCopied = await navigator.clipboard?.writeText(command).then(() => true, () => false) ?? false;
      if (!isCopied) field.select();
      button.textContent = isCopied ? "Copied" : "Press Ctrl+C";
      announce(isCopied ? "copied" : "the command is selected");
    });
    const words = pin >= 0 && pin !== chosen ? "From the pinned run to this one" : open.range ? "In this range" : "Since the run before";
    return [make("p", {className: "quiet"}, words), make("div", {className: "copy"}, field, button)];
  }

  // MARK: Tables behind charts

  document.addEventListener("toggle", event => {
    const details = event.target;
    if (!details.open || !details.classList.contains("values") || details.children.length > 1 || !open) return;
    const {course} = open, name = details.closest("figure").dataset.metric;
    const metric = course.metrics.find(metric => metric.name === name);
    const heads = metric ? ["Run (UTC)", "Commit", "Median", "Least", "Most", "Baseline", "Verdict"] : ["Run (UTC)", "Commit", ...course.parts.map(part => part.name)];
    const body = course.run.map((_, i) => {
      const figures = metric ? [metric.mid[i], metric.low[i], metric.high[i], metric.base[i]].map(value => amount(metric, value))
        : course.parts.map(part => part.values[i] === null ? "–" : bytes(part.values[i]));
      const verdict = metric ? [make("td", {}, metric.verdict[i] ?? "–")] : [];
      return make("tr", {}, make("td", {}, when(i)), make("td", {}, short(commitOf(i))), ...figures.map(text => make("td", {className: "number"}, text)), ...verdict);
    });
    details.append(make("div", {className: "scroll"}, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map(text => make("th", {scope: "col"}, text)))), make("tbody", {}, ...body.reverse()))));
  }, true);

  // MARK: Showing

  function show(next) {
    const wasAt = view.scenario;
    const isPin = open && view.pin !== next.pin && link({...view, pin: ""}) === link({...next, pin: ""});
    view = next;
    if (isPin) return showPin();
    const index = view.scenario ? wantedCourse() : undefined;
    root.classList.toggle("at-overview", index === undefined);
    $("overview").classList.toggle("closed", index !== undefined);
    if (index !== undefined) return showScenario(index);
    const left = open?.course.index;
    close();
    document.title = "Memory trend";
    if (view.scenario) announce(`no scenario is called ${view.scenario}`);
    showOverview();
    if (wasAt && left !== undefined) rows.find(row => row.dataset.course === String(left))?.querySelector("a").focus();
  }

  root.classList.replace("no-script", "scripts");
  for (const section of document.querySelectorAll(".course")) section.classList.add("closed");
  for (const a of document.querySelectorAll("a.back"))
    a.addEventListener("click", event => {
      event.preventDefault();
      back();
    });
  addEventListener("popstate", () => show(parsed()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(view));
  show(parsed());
})();
