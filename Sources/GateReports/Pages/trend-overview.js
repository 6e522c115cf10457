// The trend page: all scenarios in a table that sorts and filters.

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
