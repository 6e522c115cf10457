// The trend page: all scenarios in a table that sorts and filters.

const rows = [...document.querySelectorAll("#scenarios tbody tr")];
/** Whether an event is a level shift. */
const isShift = event => event.kind === "rise" || event.kind === "shift";
const latest = values => values.findLast(value => value !== null) ?? null;
function sortKeys(number) {
  const series = seriesAt(number);
  const value = name => latest(series.metrics.find(metric => metric.name === name)?.median ?? []);
  const change = name => {
    const metric = series.metrics.find(metric => metric.name === name);
    const at = metric?.median.findLastIndex(value => value !== null) ?? -1;
    return at >= 0 && metric.baseline[at] ? metric.median[at] / metric.baseline[at] - 1 : null;
  };
  const shift = series.events.findLast(isShift);
  return {
    state: series.state, name: series.name, peak: value("peak_rss"), peakChange: change("peak_rss"),
    steady: value("steady_rss"), steadyChange: change("steady_rss"),
    shift: shift ? runs.time[series.run[shift.index]] : null,
  };
}
let keys = null;

for (const box of document.querySelectorAll(".timeline .copy")) {
  const button = make("button", {type: "button"}, "Copy");
  Charts.copies(button, box.querySelector(".command"), announce);
  box.append(button);
}

function showOverview() {
  overview = {env: view.env, branch: view.branch};
  for (const name of ["q", "tag", "state", "env", "branch"]) if ($(name).value !== view[name]) $(name).value = view[name];
  const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const series = data.series[row.dataset.series];
    const text = row.textContent.toLowerCase();
    const fits = words.every(word => text.includes(word)) && (!view.tag || series.tags.includes(view.tag))
      && (!view.env || series.env === view.env) && (!view.branch || series.branch === view.branch)
      && (!view.state || row.querySelector(".state").textContent.includes(view.state));
    row.hidden = !fits;
    count += fits;
    row.querySelector("a").href = linkTo(series);
  }
  for (const a of document.querySelectorAll(".timeline a[data-series]")) a.href = linkTo(data.series[a.dataset.series]);
  const text = count === rows.length ? `${count} shown` : `${count} of ${rows.length} shown`;
  if ($("count").textContent !== text) $("count").textContent = text;
  sort();
}

function sort() {
  const [column, direction] = (view.sort || "state").split("-");
  keys ??= new Map(rows.map(row => [row, sortKeys(row.dataset.series)]));
  const key = row => keys.get(row)[column];
  const sign = direction === "down" ? -1 : 1;
  const compare = (a, b) => a === b ? 0 : a === null || a === undefined ? 1 : b === null || b === undefined ? -1
    : sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b);
  const order = rows.toSorted((a, b) => compare(key(a), key(b)) || a.dataset.series - b.dataset.series);
  document.querySelector("#scenarios tbody").append(...order);
  for (const heading of document.querySelectorAll("#scenarios th[data-sort]")) {
    const isKey = heading.dataset.sort === column;
    heading.setAttribute("aria-sort", isKey ? (sign > 0 ? "ascending" : "descending") : "none");
  }
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
for (const name of ["q", "tag", "state", "env", "branch"])
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
