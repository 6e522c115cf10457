// The trend page: from view to view.

function show(next) {
  const wasAt = view.scenario;
  const isPin = open && view.pin !== next.pin && link({...view, pin: ""}) === link({...next, pin: ""});
  view = next;
  if (isPin) return showPin();
  const number = view.scenario ? requestedSeries() : undefined;
  root.classList.toggle("at-overview", number === undefined);
  $("overview").classList.toggle("closed", number !== undefined);
  if (number !== undefined) return showScenario(number);
  const left = open?.series.number;
  close();
  document.title = "Memory trend";
  if (view.scenario) announce(`no scenario has the name ${view.scenario}`);
  showOverview();
  if (wasAt && left !== undefined) rows.find(row => row.dataset.series === String(left))?.querySelector("a").focus();
}

root.classList.replace("no-script", "scripts");
document.addEventListener("click", event => {
  if (!event.target.closest("a.back")) return;
  event.preventDefault();
  back();
});
addEventListener("beforeprint", () => {
  if (open) return;
  showRows(Infinity);
  for (const number of data.series.keys()) sectionOf(number);
});
addEventListener("popstate", () => show(parsedView()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(view));

/** The only series is what a reader looks for; the list of all is a click away. */
function firstView() {
  const [only, ...others] = data.series;
  if (!only || others.length > 0 || location.hash) return parsedView();
  return {...parsedView(), scenario: only.name, env: only.env, branch: only.branch ?? ""};
}
show(firstView());
