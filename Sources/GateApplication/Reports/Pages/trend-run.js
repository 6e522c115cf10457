// The trend page: the selected run.

const amount = (metric, value) => value === null ? "–" : Charts.amount(value, metric.unit);
/** The value of the run before, of those that did not fail. */
function before(metric, index) {
  for (let i = index - 1; i >= 0; i--) {
    if (metric.median[i] !== null && open.series.verdict[i] !== "failed") return metric.median[i];
  }
  return null;
}
function sentence(metric, index) {
  const value = metric.median[index];
  if (value === null) return `no ${metric.name}`;
  const last = before(metric, index), baseline = metric.baseline[index];
  return `${metric.name} ${amount(metric, value)}`
    + (last === null ? "" : `, ${difference(value - last, metric.unit)} vs. the run before`)
    + (baseline === null ? "" : `, ${difference(value - baseline, metric.unit)} vs. the baseline`);
}

function select(index) {
  if (!open) return;
  open.selected = index;
  for (const chart of open.charts) chart.show(index);
  readout();
}

function readout() {
  const {series, selected, pin} = open, run = series.run[selected];
  const commit = runs.commit[run], isPinned = pin === selected;
  const address = data.commitURL && isCommit(commit) ? data.commitURL.replace("{commit}", commit) : null;
  const events = series.events.filter(event => event.index === selected);
  const omitted = series.omitted[selected], runsUntil = index => index + 1 + sum(series.omitted.slice(0, index + 1));
  const aside = open.section.querySelector(".readout");
  aside.replaceChildren(
    make("div", {className: "run"},
      stepper("‹", "the run before", -1), make("strong", {}, `Run ${runsUntil(selected)} of ${runsUntil(series.run.length - 1)}`), stepper("›", "the next run", 1), pinner(isPinned)),
    make("p", {}, when(selected), " ", make("span", {className: `verdict verdict-${series.verdict[selected]}`}, series.verdict[selected])),
    make("p", {}, external(address, make("code", {}, commitName(selected))), " ", make("span", {className: "subject"}, runs.subject[run] ?? "")),
    make("p", {className: "quiet"}, series.branch ?? "no branch", isAddress(runs.build[run]) ? " · " : null, isAddress(runs.build[run]) ? external(runs.build[run], "build") : null,
      omitted ? ` · the charts leave out ${omitted} run${omitted > 1 ? "s" : ""} before it` : null),
    valuesTable(selected),
    ...events.map(event => make("p", {className: `event event-${event.kind}`}, event.text)),
    ...range());
}

function stepper(sign, label, step) {
  const button = make("button", {type: "button", className: "step", "aria-label": label}, sign);
  button.addEventListener("click", () => {
    select(Math.min(open.series.run.length - 1, Math.max(0, open.selected + step)));
    open.section.querySelector(`.readout [aria-label="${label}"]`).focus();
    announce(sentence(open.series.metrics[0], open.selected));
  });
  return button;
}
function pinner(isPinned) {
  const button = make("button", {type: "button", className: "pin", "aria-pressed": isPinned}, isPinned ? "pinned" : "pin");
  button.addEventListener("click", () => go({pin: isPinned ? "" : idOf(open.series, open.selected)}));
  return button;
}

/** A metric's name, with line breaks as in PageWords.breakable. */
const breakable = name => name.split(/(?<=[/_.:-])(?!\d)/).flatMap(part => [part, make("wbr")]);

function valuesTable(index) {
  const parts = open.series.parts.filter(part => part.values[index]);
  const cell = (text, verdict = "none") => make("td", {className: `number verdict-${verdict}`}, text);
  const body = open.series.metrics.map(metric => {
    const value = metric.median[index], last = before(metric, index), baseline = metric.baseline[index];
    const change = value === null || !(baseline > 0) ? "" : percent((value / baseline - 1) * 100);
    const verdict = metric.verdict[index] === "regression" ? "regression" : "none";
    return make("tr", {}, make("th", {scope: "row"}, ...breakable(metric.name)), cell(amount(metric, value), verdict),
      cell(value === null || last === null || value === last ? "" : difference(value - last, metric.unit)),
      cell(change, verdict));
  });
  const head = make("tr", {}, ...["metric", "value", "vs. before", "vs. baseline"].map((text, i) => make("th", {scope: "col", className: i ? "number" : ""}, text)));
  const whole = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  if (!parts.length) return whole;
  const text = parts.map(part => `${part.name} ${bytes(part.values[index])}`).join(", ");
  return make("div", {}, whole, make("p", {className: "quiet"}, `Memory at the end of the run: ${text}.`));
}

/** The commits from one run to another, as a command to copy. */
function range() {
  const {selected, pin} = open;
  const [a, b] = pin >= 0 && pin !== selected ? [Math.min(pin, selected), Math.max(pin, selected)] : open.range ?? [selected - 1, selected];
  if (a < 0 || !isCommit(commitOf(a)) || !isCommit(commitOf(b)) || commitOf(a) === commitOf(b)) return [];
  const command = `git log --oneline ${commitOf(a).slice(0, 12)}..${commitOf(b).slice(0, 12)}`;
  const field = make("code", {className: "command"}, command);
  const button = make("button", {type: "button"}, "Copy");
  Charts.copies(button, field, announce);
  const words = pin >= 0 && pin !== selected ? "From the pinned run to this one" : open.range ? "In this range" : "Since the run before";
  return [make("p", {className: "quiet"}, words), make("div", {className: "copy"}, field, button)];
}
