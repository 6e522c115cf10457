// The trend page: from view to view.

function show(next) {
  const wasAt = view.scenario;
  const isPin = open && view.pin !== next.pin && link({...view, pin: ""}) === link({...next, pin: ""});
  view = next;
  if (isPin) return showPin();
  const index = view.scenario ? wantedCourse() : undefined;
  root.classList.toggle("at-overview", index === undefined);
  $("overview").classList.toggle("closed", index !== undefined);
  if (index !== undefined) return showScenario(index);
  const left = open?.course.index;
  close();
  document.title = "Memory trend";
  if (view.scenario) announce(`no scenario is called ${view.scenario}`);
  showOverview();
  if (wasAt && left !== undefined) rows.find(row => row.dataset.course === String(left))?.querySelector("a").focus();
}

root.classList.replace("no-script", "scripts");
for (const section of document.querySelectorAll(".course")) section.classList.add("closed");
for (const a of document.querySelectorAll("a.back"))
  a.addEventListener("click", event => {
    event.preventDefault();
    back();
  });
addEventListener("popstate", () => show(parsed()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(view));
show(parsed());
