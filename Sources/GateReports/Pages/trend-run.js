// The trend page: the run that is chosen, in words.

const amount = (metric, value) => value === null ? "–" : Charts.amount(value, metric.measure);
/** The value of the run before; that of a failed one is of an unfinished program. */
function before(metric, entry) {
  for (let i = entry - 1; i >= 0; i--) {
    if (metric.mid[i] !== null && open.course.verdict[i] !== "failed") return metric.mid[i];
  }
  return null;
}
function inWords(metric, entry) {
  const value = metric.mid[entry];
  if (value === null) return `no ${metric.name}`;
  const last = before(metric, entry), base = metric.base[entry];
  return `${metric.name} ${amount(metric, value)}`
    + (last === null ? "" : `, ${difference(value - last, metric.measure)} since the run before`)
    + (base === null ? "" : `, ${difference(value - base, metric.measure)} against the baseline`);
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
    const change = value === null || !(base > 0) ? "" : percent((value / base - 1) * 100);
    return make("tr", {}, make("th", {scope: "row"}, ...breakable(metric.name)), cell(amount(metric, value)),
      cell(value === null || last === null || value === last ? "" : difference(value - last, metric.measure)),
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
  const field = make("code", {className: "command"}, command);
  const button = make("button", {type: "button"}, "Copy");
  Charts.copies(button, field, announce);
  const words = pin >= 0 && pin !== chosen ? "From the pinned run to this one" : open.range ? "In this range" : "Since the run before";
  return [make("p", {className: "quiet"}, words), make("div", {className: "copy"}, field, button)];
}
