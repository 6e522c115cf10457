// The trend page: its values from the element `data` (TrendData.swift), and the view with its link. The files trend-*.js
// are one script.

const {make, bytes, difference, percent, color, space} = Charts;
const $ = id => document.getElementById(id);
const root = document.documentElement;
const data = JSON.parse($("data").textContent);
const runs = data.runs;

// MARK: Columns

/** The values of a column (`TrendData.Column`). */
function numbers(text) {
  const values = [];
  for (const word of text ? text.split(" ") : []) {
    const value = parseInt(word, 10), star = word.indexOf("*");
    for (let count = star < 0 ? 1 : Number(word.slice(star + 1)); count > 0; count--) values.push(Number.isNaN(value) ? null : value);
  }
  return values;
}
function cumulated(text) {
  let last = 0;
  return numbers(text).map(value => value === null ? null : (last += value));
}
const sum = values => values.reduce((a, b) => a + b, 0);
const repeated = ({counts, values}) => counts.flatMap((count, i) => Array(count).fill(values[i]));
runs.time = cumulated(runs.time);
for (const name of ["commit", "dirty", "subject", "build"]) runs[name] = repeated(runs[name]);

const verdictsOf = text => numbers(text).map(index => data.verdicts[index]);
const scaled = (metric, values) => values.map(value => value === null ? null : value * metric.scale);
function metricOf(raw) {
  const median = scaled(raw, cumulated(raw.median)), below = scaled(raw, numbers(raw.below)), above = scaled(raw, numbers(raw.above));
  const [baseline, allowed, limit] = [raw.baseline, raw.allowed, raw.limit].map(column => scaled(raw, repeated(column)));
  return {
    name: raw.name, unit: raw.unit, creepStart: raw.creepStart ?? null, median, baseline, allowed, limit,
    low: median.map((value, i) => value === null ? null : value - below[i]),
    high: median.map((value, i) => value === null ? null : value + above[i]),
    verdict: verdictsOf(raw.verdict),
  };
}

const decoded = new Map();
/** A series with its columns as plain values. */
function seriesAt(number) {
  if (decoded.has(number)) return decoded.get(number);
  const raw = data.series[number];
  const series = {
    ...raw, number, metrics: raw.metrics.map(metricOf), run: cumulated(raw.run),
    verdict: verdictsOf(raw.verdict), omitted: repeated(raw.omitted), aside: new Set(cumulated(raw.aside)),
    parts: raw.parts.map(({name, amount}) => ({name, values: cumulated(amount).map(v => v === null ? null : v * 1024)})),
  };
  decoded.set(number, series);
  return series;
}

// MARK: The view, and its link

const defaults = {
  scenario: "", env: "", branch: "", metric: "", x: "order", scale: "absolute", zero: "", from: "", to: "", pin: "",
  q: "", tag: "", state: "", event: "", sort: "",
};
const scenarioOptions = ["metric", "x", "scale", "zero", "from", "to", "pin"];
let view = {...defaults};

function parsedView() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, given.get(name) ?? value]));
}
function link(view) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(view)) if (value !== defaults[name]) given.set(name, value);
  return "#" + given;
}
/** Goes to a view; a new page gets an entry of its own in the browser's history. */
function go(change, isNewPage = false) {
  const next = {...view, ...change};
  if (link(next) === link(view)) return;
  history[isNewPage ? "pushState" : "replaceState"](null, "", link(next));
  show(next);
}
const back = () => go({scenario: "", env: overview.env, branch: overview.branch, ...Object.fromEntries(scenarioOptions.map(name => [name, defaults[name]]))}, true);
/** The filters of the overview, to return to. */
let overview = {env: "", branch: ""};

function linkTo(series) {
  return link({...view, ...Object.fromEntries(scenarioOptions.map(name => [name, defaults[name]])), x: view.x, scale: view.scale, zero: view.zero,
    scenario: series.name, env: series.env, branch: series.branch ?? ""});
}
/** The number of the series that fits the view best. */
function requestedSeries() {
  const fits = (series, name) => (series[name] ?? "") === view[name];
  const named = data.series.map((series, number) => ({number, isNamed: series.name === view.scenario, score: 2 * fits(series, "env") + fits(series, "branch")}));
  return named.filter(item => item.isNamed).toSorted((a, b) => b.score - a.score)[0]?.number;
}
function announce(text) {
  $("announcer").textContent = text;
}
