// The trend page: one scenario, its charts and tools.

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
  const isRelative = view.scale === "relative" && metric?.base.some(base => base > 0);
  const relative = (value, entry) => value === null ? null : !isRelative ? value : metric.base[entry] > 0 ? (value / metric.base[entry] - 1) * 100 : null;
  const zoom = (low, high) => {
    if (low === undefined) return go({from: "", to: ""});
    const from = nearest(low), to = Math.max(nearest(high), from + 1);
    if (to < course.run.length) go({from: idOf(course, from), to: idOf(course, to)});
  };
  const common = {
    labels: ["x"], ylabel: null, includeZero: view.zero === "1" && !isRelative,
    dateWindow: open.range ? open.range.map(xOf) : null,
    axes: {x: {ticker: runTicks, drawGrid: false, axisLabelWidth: 76}, y: {axisLabelWidth: 66, ticker: isRelative ? Charts.percentTicks : Charts.amountTicks(metric?.measure ?? "bytes")}},
  };
  // The library stacks the last one lowest.
  const parts = course.parts.toReversed();
  const values = metric
    ? course.run.map((_, i) => [xOf(i), metric.mid[i] === null ? [null, null, null] : [metric.low[i], metric.mid[i], metric.high[i]].map(v => relative(v, i))])
    : course.run.map((_, i) => [xOf(i), ...parts.map(part => part.values[i])]);
  const own = metric
    ? {labels: ["x", metric.name], customBars: true, colors: [color("blue")], ...fitted(metric, relative)}
    : {labels: ["x", ...parts.map(part => part.name)], stackedGraph: true, fillAlpha: 0.45, colors: data.inks.toReversed().map(color), drawPoints: false};
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
  const least = view.scale === "relative" ? 2 : Math.max(Math.abs(high) / 50, Charts.isMemory(metric.measure) ? 1 : 0) || 1;
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
