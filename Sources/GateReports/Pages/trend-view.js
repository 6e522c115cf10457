// The trend page: its values from the element `data` (TrendData.swift), and the view with its link. The files trend-*.js
// are one script.

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
    const mid = scaled(sums(metric.mid)), below = scaled(metric.below), above = scaled(metric.above);
    const [base, allowed, limit] = [metric.base, metric.allowed, metric.limit].map(column => scaled(spread(column)));
    return {
      name: metric.name, measure: metric.measure, creep: metric.creep, mid, base, allowed, limit,
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
