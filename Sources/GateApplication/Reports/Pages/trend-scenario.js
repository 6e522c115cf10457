// The trend page: one scenario, its charts and tools.

// MARK: A scenario

/** The open series with its charts, the index of the selected run and the range of indices that is shown. */
let open = null;
const idOf = (series, index) => runs.id[series.run[index]];
const indexOf = (series, id) => id ? series.run.findIndex(run => runs.id[run] === id) : -1;
const commitOf = index => runs.commit[open.series.run[index]];
const short = index => commitOf(index)?.slice(0, 9) ?? "–";
const commitName = index => short(index) + (runs.dirty[open.series.run[index]] ? "-dirty" : "");
const when = index => new Date(runs.time[open.series.run[index]] * 1000).toISOString().slice(0, 16).replace("T", space);
const isCommit = text => /^[0-9a-z]{4,64}$/i.test(text ?? "");
const isAddress = text => /^https?:\/\/[^\s]+$/i.test(text ?? "");

function external(address, ...content) {
  return isAddress(address) ? make("a", {href: address, target: "_blank", rel: "noopener noreferrer"}, ...content) : make("span", {}, ...content);
}

/** The section of a series. Where scripts run, the content of `noscript` is text; it becomes elements when they are needed. */
function sectionOf(number) {
  const text = $(`text-${number}`);
  if (text) {
    text.outerHTML = text.textContent;
    $(`series-${number}`).classList.add("closed");
  }
  return $(`series-${number}`);
}

function showScenario(number) {
  const series = seriesAt(number);
  const section = sectionOf(number);
  const isNew = open?.series !== series, lastSelected = open?.selected;
  const focused = isNew ? null : document.activeElement?.closest(".plot")?.closest("figure");
  close();
  const from = indexOf(series, view.from), to = indexOf(series, view.to), pin = indexOf(series, view.pin);
  const range = from >= 0 && to > from ? [from, to] : null;
  open = {series, section, range, pin, charts: [], selected: !isNew ? lastSelected : pin >= 0 ? pin : series.run.length - 1};
  section.classList.remove("closed");
  tools();
  const fold = section.querySelector(".unjudged");
  const isWanted = figure => !view.metric || figure.dataset.metric === view.metric;
  if (fold) {
    fold.hidden = ![...fold.querySelectorAll("figure")].some(isWanted);
    if (view.metric && !fold.hidden) fold.open = true;
  }
  for (const figure of section.querySelectorAll("figure")) {
    figure.hidden = !isWanted(figure);
    figure.classList.toggle("alone", view.metric !== "");
    drawIfVisible(figure);
  }
  select(open.selected);
  focused?.querySelector(".plot")?.focus({preventScroll: true});
  if (isNew) {
    scrollTo(0, 0);
    section.querySelector("h2").focus({preventScroll: true});
    document.title = `${series.name} – Memory trend`;
  }
}

/** A chart within closed details has no width: it is drawn when they open. */
function drawIfVisible(figure) {
  if (!figure.hidden && !figure.closest("details:not([open])") && !figure.querySelector(".stage")) draw(figure);
}
document.addEventListener("toggle", event => {
  if (!open || !event.target.open || !event.target.classList.contains("unjudged")) return;
  for (const figure of event.target.querySelectorAll("figure")) drawIfVisible(figure);
  select(open.selected);
}, true);

/** The charts stay as they are, so that a second click on them counts as a double click. */
function showPin() {
  open.pin = indexOf(open.series, view.pin);
  for (const chart of open.charts) chart.graph.updateOptions({});
  select(open.selected);
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

/** A list of the values of one option of the view. */
function option(label, name, options) {
  const select = make("select", {id: `tool-${name}`});
  for (const [value, text] of options) select.append(make("option", {value, selected: view[name] === value}, text));
  select.addEventListener("change", () => {
    go({[name]: select.value});
    $(`tool-${name}`)?.focus();
  });
  return make("label", {}, label + " ", select);
}

function tools() {
  const {series} = open;
  const siblings = data.series.filter(other => other.name === series.name);
  const origin = make("select", {id: "tool-origin"});
  for (const other of siblings)
    origin.append(make("option", {value: linkTo(other), selected: other === data.series[series.number]}, `${other.branch ?? "no branch"} · ${other.env}`));
  origin.addEventListener("change", () => { location.hash = origin.value; });
  const reset = make("button", {type: "button", hidden: !open.range}, "Whole range");
  reset.addEventListener("click", () => go({from: "", to: ""}));
  const figures = [...open.section.querySelectorAll("figure")].map(figure => figure.dataset.metric);
  open.section.querySelector(".tools").replaceChildren(
    option("Metric", "metric", [["", "all"], ...figures.map(name => [name, name])]),
    option("X axis", "x", [["order", "by commit"], ["date", "by date"]]),
    option("Y axis", "scale", [["absolute", "absolute"], ["relative", "relative to the baseline"]]),
    option("Range", "zero", [["", "fitted"], ["1", "from zero"]]),
    ...(siblings.length > 1 ? [make("label", {}, "Branch ", origin)] : []),
    reset);
}

const xOf = index => view.x === "date" ? runs.time[open.series.run[index]] * 1000 : index;
/** A single run needs an axis around it: half a day, or half a run, on either side. */
const spaceAround = (first, last) => first < last ? null : [-1, 1].map(side => first + side * (view.x === "date" ? 432e5 : 0.5));
const nearest = x => {
  const xs = open.series.run.map((_, index) => xOf(index));
  return xs.reduce((best, value, index) => Math.abs(value - x) < Math.abs(xs[best] - x) ? index : best, 0);
};

function draw(figure) {
  const {series} = open;
  const metric = series.metrics.find(metric => metric.name === figure.dataset.metric);
  const isRelative = view.scale === "relative" && metric?.baseline.some(baseline => baseline > 0);
  const relative = (value, index) => value === null ? null : !isRelative ? value : metric.baseline[index] > 0 ? (value / metric.baseline[index] - 1) * 100 : null;
  const zoom = (low, high) => {
    if (low === undefined) return go({from: "", to: ""});
    const from = nearest(low), to = Math.max(nearest(high), from + 1);
    if (to < series.run.length) go({from: idOf(series, from), to: idOf(series, to)});
  };
  const common = {
    labels: ["x"], ylabel: null, includeZero: view.zero === "1" && !isRelative,
    dateWindow: open.range ? open.range.map(xOf) : spaceAround(xOf(0), xOf(series.run.length - 1)),
    axes: {x: {ticker: runTicks, drawGrid: false, axisLabelWidth: 76}, y: {axisLabelWidth: 66, ticker: isRelative ? Charts.percentTicks : Charts.amountTicks(metric?.unit ?? "bytes")}},
  };
  // The library stacks the last one lowest.
  const parts = series.parts.toReversed();
  const values = metric
    ? series.run.map((_, i) => [xOf(i), metric.median[i] === null ? [null, null, null] : [metric.low[i], metric.median[i], metric.high[i]].map(v => relative(v, i))])
    : series.run.map((_, i) => [xOf(i), ...parts.map(part => part.values[i])]);
  const own = metric
    ? {labels: ["x", metric.name], customBars: true, colors: [color("blue")], ...fitted(metric, relative)}
    : {labels: ["x", ...parts.map(part => part.name)], stackedGraph: true, fillAlpha: 0.45, colors: data.inks.toReversed().map(color), drawPoints: false};
  const stage = make("div", {className: "stage"});
  figure.querySelector(".picture").after(stage);
  const chart = Charts.chart(stage, {
    rows: values, options: {...common, ...own}, zoom,
    label: `${figure.dataset.metric} of ${series.name}, run by run`,
    mark: metric ? (context, area, graph) => marks(context, area, graph, metric, relative) : undefined,
    choose: select, pin: row => go({pin: view.pin === idOf(series, row) ? "" : idOf(series, row)}),
    describe: index => `${when(index)}, ${commitName(index)}: ${metric ? sentence(metric, index) : ""}`,
  });
  if (chart) {
    open.charts.push(chart);
    figure.classList.add("live");
  }
}

/** The range of the y axis: with the baseline and the tolerance, and at least 2 %, so that noise does not look like change. */
function fitted(metric, relative) {
  const [first, last] = open.range ?? [0, metric.median.length - 1];
  const seen = [];
  for (let i = first; i <= last; i++) {
    // The value of a program that failed early, or of a run that was set aside, would flatten all others.
    if (open.series.verdict[i] === "failed" || open.series.aside.has(i)) continue;
    const top = metric.baseline[i] === null ? null : metric.baseline[i] + (metric.allowed[i] ?? 0);
    for (const value of [metric.low[i], metric.high[i], metric.baseline[i], top]) {
      const shown = value === null ? null : relative(value, i);
      if (shown !== null) seen.push(shown);
    }
  }
  if (view.zero === "1") seen.push(0);
  const low = Math.min(...seen), high = Math.max(...seen);
  const least = view.scale === "relative" ? 2 : Math.max(Math.abs(high) / 50, Charts.isMemory(metric.unit) ? 1 : 0) || 1;
  const space = Math.max(least - (high - low), 0) / 2 + (high - low) * 0.06;
  return seen.length ? {valueRange: [view.zero === "1" && low >= 0 ? 0 : low - space, high + space]} : {};
}

function runTicks(low, high, pixels) {
  const {series} = open, most = Math.max(2, pixels / 90), result = [];
  if (view.x === "date") return Dygraph.dateTicker(low, high, pixels, name => ({pixelsPerLabel: 85, labelsUTC: true, axisLabelFormatter: date => dateLabel(date, high - low)})[name]);
  const first = Math.max(0, Math.ceil(low)), last = Math.min(series.run.length - 1, Math.floor(high));
  const stride = Math.max(1, Math.ceil((last - first + 1) / most));
  for (let i = first; i <= last; i += stride) result.push({v: i, label: Charts.escaped(short(i))});
  return result;
}
const dateLabel = (date, span) => date.toISOString().slice(...span > 300 * 864e5 ? [0, 7] : span > 3 * 864e5 ? [5, 10] : [5, 16]).replace("T", " ");

// MARK: Tables behind charts

document.addEventListener("toggle", event => {
  const details = event.target;
  if (!details.open || !details.classList.contains("values") || details.children.length > 1 || !open) return;
  const {series} = open, name = details.closest("figure").dataset.metric;
  const metric = series.metrics.find(metric => metric.name === name);
  const headings = metric ? ["Run (UTC)", "Commit", "Median", "Lowest", "Highest", "Baseline", "Verdict"] : ["Run (UTC)", "Commit", ...series.parts.map(part => part.name)];
  const body = series.run.map((_, i) => {
    const values = metric ? [metric.median[i], metric.low[i], metric.high[i], metric.baseline[i]].map(value => amount(metric, value))
      : series.parts.map(part => part.values[i] === null ? "–" : bytes(part.values[i]));
    const verdict = metric ? [make("td", {}, metric.verdict[i] ?? "–")] : [];
    return make("tr", {}, make("td", {}, when(i)), make("td", {}, commitName(i)), ...values.map(text => make("td", {className: "number"}, text)), ...verdict);
  });
  details.append(make("div", {className: "scroll"}, make("table", {},
    make("thead", {}, make("tr", {}, ...headings.map(text => make("th", {scope: "col"}, text)))), make("tbody", {}, ...body.reverse()))));
}, true);
