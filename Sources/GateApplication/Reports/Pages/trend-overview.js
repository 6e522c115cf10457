// The trend page: all scenarios in a table that sorts and filters.

const rows = [...document.querySelectorAll("#scenarios tbody tr")];
/** Whether an event is a level shift. */
const isShift = event => event.kind === "rise" || event.kind === "shift";
/** The latest median of a metric and the baseline of that run; the other columns stay encoded, since there may be many series. */
function lastOf(series, name) {
  const metric = series.metrics.find(metric => metric.name === name);
  if (!metric) return {};
  const medians = scaled(metric, cumulated(metric.median)), at = medians.findLastIndex(value => value !== null);
  const baseline = scaled(metric, repeated(metric.baseline))[at];
  return {value: medians[at], change: baseline ? medians[at] / baseline - 1 : null};
}
function lastShift(series) {
  const shift = series.events.findLast(isShift);
  return shift ? runs.time[cumulated(series.run)[shift.index]] : null;
}
const sortKeys = {
  state: series => series.state, name: series => series.name, shift: lastShift,
  peak: series => lastOf(series, "peak_rss").value, peakChange: series => lastOf(series, "peak_rss").change,
  steady: series => lastOf(series, "steady_rss").value, steadyChange: series => lastOf(series, "steady_rss").change,
};

for (const box of document.querySelectorAll(".timeline .copy")) {
  const button = make("button", {type: "button"}, "Copy");
  Charts.copies(button, box.querySelector(".command"), announce);
  box.append(button);
}

for (const a of document.querySelectorAll(".timeline a[data-event]"))
  a.addEventListener("click", event => {
    event.preventDefault();
    go({event: a.dataset.event}, true);
    $("filters").scrollIntoView();
  });

const filters = ["q", "tag", "state", "env", "branch", "event"];
/** Only so many rows are shown until all are asked for, as in trend.css before this script runs: they are most of the layout. */
let mostRows = 100;
const more = make("button", {type: "button", className: "needs-script more"});
more.addEventListener("click", () => showRows(Infinity));
$("scenarios").after(more);

function showRows(count) {
  mostRows = count;
  showOverview();
}

function showOverview() {
  overview = {env: view.env, branch: view.branch};
  for (const name of filters) if ($(name).value !== view[name]) $(name).value = view[name];
  const fitting = sorted().filter(filter());
  const shown = new Set(fitting.slice(0, mostRows));
  for (const row of rows) row.hidden = !shown.has(row);
  for (const row of shown) row.querySelector("a").href = linkTo(data.series[row.dataset.series]);
  for (const a of document.querySelectorAll(".timeline a[data-series]")) a.href = linkTo(data.series[a.dataset.series]);
  const text = shown.size === rows.length ? `${shown.size} shown` : `${shown.size} of ${rows.length} shown`;
  if ($("count").textContent !== text) $("count").textContent = text;
  more.textContent = `Show all ${fitting.length}`;
  more.hidden = fitting.length === shown.size;
}

/** Returns a function that tells whether a row fits the view. */
function filter() {
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  const ofEvent = view.event && new Set(cumulated(data.events.find(event => event.id === view.event)?.series));
  return row => {
    const series = data.series[row.dataset.series];
    const text = row.textContent.toLowerCase();
    return words.every(word => text.includes(word)) && (!view.tag || series.tags.includes(view.tag))
      && (!view.env || series.env === view.env) && (!view.branch || series.branch === view.branch)
      && (!ofEvent || ofEvent.has(Number(row.dataset.series)))
      && (!view.state || row.querySelector(".state").textContent.includes(view.state));
  };
}

const decodedKeys = new Map();
/** By what each row is sorted; decoded once, since each letter of a filter sorts again. */
function keysOf(column) {
  if (!decodedKeys.has(column)) decodedKeys.set(column, new Map(rows.map(row => [row, sortKeys[column](data.series[row.dataset.series])])));
  return decodedKeys.get(column);
}

/** All rows in the order of the view, which the table then has. */
function sorted() {
  const [column, direction] = (view.sort || "state").split("-");
  const keys = keysOf(Object.hasOwn(sortKeys, column) ? column : "state");
  const sign = direction === "down" ? -1 : 1;
  const compare = (a, b) => a === b ? 0 : a === null || a === undefined ? 1 : b === null || b === undefined ? -1
    : sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  const order = rows.toSorted((a, b) => compare(keys.get(a), keys.get(b)));
  const body = document.querySelector("#scenarios tbody");
  if (order.some((row, i) => row !== body.rows[i])) body.append(...order);
  for (const heading of document.querySelectorAll("#scenarios th[data-sort]")) {
    const isKey = heading.dataset.sort === column;
    heading.setAttribute("aria-sort", isKey ? (sign > 0 ? "ascending" : "descending") : "none");
  }
  return order;
}

for (const heading of document.querySelectorAll("#scenarios th[data-sort]")) {
  const button = make("button", {type: "button", className: "sort"});
  button.append(...heading.childNodes);
  heading.append(button);
  button.addEventListener("click", () => {
    const [column, direction] = (view.sort || "state").split("-");
    const name = heading.dataset.sort;
    // Numbers are sorted from the largest first.
    const first = ["state", "name"].includes(name) ? "up" : "down";
    go({sort: column === name && (direction ?? "up") === first ? `${name}-${first === "up" ? "down" : "up"}` : `${name}-${first}`});
  });
}
$("filters").addEventListener("submit", event => event.preventDefault());
for (const name of filters)
  $(name).addEventListener("input", () => go({[name]: $(name).value}));
for (const row of rows)
  row.addEventListener("click", event => {
    if (!event.target.closest("a") && !getSelection().toString()) row.querySelector("a").click();
  });

function selectNeighbour(step) {
  const links = [...document.querySelectorAll("#scenarios tbody tr:not([hidden]) a")];
  if (view.scenario) {
    const at = links.findIndex(a => a.closest("tr").dataset.series === String(open?.series.number));
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
    else if (open?.range) go({from: "", to: ""});
    else if (view.pin) go({pin: ""});
    else if (view.scenario) back();
    else return;
  } else if (isTyping) {
    if (event.target.id !== "q" || !["ArrowDown", "Enter"].includes(event.key)) return;
    selectNeighbour(1);
  } else if (event.key === "/") {
    if (view.scenario) back();
    $("q").focus();
    $("q").select();
  } else if (event.key === "j" || event.key === "ArrowDown" && !view.scenario) selectNeighbour(1);
  else if (event.key === "k" || event.key === "ArrowUp" && !view.scenario) selectNeighbour(-1);
  else return;
  event.preventDefault();
});
