"""Jobs: 40 scenarios measured one after the other and side by side, against baselines that were measured one after the other."""

from bench import *

# Allocate much more than they keep; that of Java in two threads.
GARBAGE_NODE = "const kept=[]; for (let i=0; i<1e6; i++) {{ const x=new Array(100).fill(i); if (i%{every}==0) kept.push(x) }}"
GARBAGE_JAVA = """public class Garbage {
  static void allocate(int every) {
    var kept = new java.util.ArrayList<int[]>();
    for (int i = 0; i < 1_000_000; i++) { int[] x = new int[200]; if (i % every == 0) kept.add(x); }
  }
  public static void main(String[] words) throws Exception {
    var other = new Thread(() -> allocate(Integer.parseInt(words[0])));
    other.start();
    allocate(Integer.parseInt(words[0]));
    other.join();
  }
}
"""
QUERY = ("create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<{rows}) "
         "insert into t select x, hex(randomblob(8)) from c; select count(*) from t")


def scenarios(folder):
    """The kind and the definition of each scenario."""
    found = []
    for number in range(1, several(6, 1) + 1):
        found += [
            ("C", {"command": ballast("hold", f"mib={4 * number}", "ms=200")}),
            ("shell", {"command": ["sh", "-c", f"for i in 1 2 3; do sleep 0.{number}; done"]}),
            ("SQLite", {"command": ["sqlite3", ":memory:", QUERY.format(rows=20_000 * number)]}),
            ("Python", {"command": [
                sys.executable, "-c", f"import time; x=[bytearray(1000) for _ in range({2000 * number})]; time.sleep(0.3)"]}),
        ]
    for number in range(1, several(5, 1) + 1):
        found += [
            ("redis", {"command": ["redis-server", "--port", "{{port}}", "--save", "", "--enable-debug-command", "yes"],
                       "populate": ["redis-cli", "-p", "{{port}}", "debug", "populate", str(1000 * number)]}),
            ("Node", {"command": ["node", "-e", GARBAGE_NODE.format(every=50 * number)]}),
            ("Java", {"command": ["java", "-Xmx256m", "-cp", folder, "Garbage", str(50 * number)]}),
        ]
    return [(kind, {"name": f"{kind}-{index}", **definition(parts)}) for index, (kind, parts) in enumerate(found)]


def definition(parts):
    if "populate" not in parts:
        return {"target": {"command": parts["command"]}}
    return {"target": {"command": parts["command"]}, "ready": {"tcp": "{{port}}"},
            "steps": [{"run": parts["populate"]}, {"settle": {"within": "10s"}}]}


def check(folder, jobs):
    """The seconds of a check, and its scenarios by name."""
    begin = time.monotonic()
    subprocess.run([HIGHWATER, "check", "--quiet", "--allow-missing-baseline", "--jobs", str(jobs)], cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    with open(os.path.join(folder, ".highwater", "result.json")) as file:
        return seconds, {scenario["name"]: scenario for scenario in json.load(file)["scenarios"]}


def largest_change(results):
    """Of the gated metrics of these scenarios, in percent of the baseline."""
    changes = [100 * abs(metric["change"]["absolute"]) / metric["baseline"]["median"] for result in results
               for metric in result["metrics"] if "change" in metric and metric["baseline"]["median"]]
    return f"{max(changes, default=0):.2f}"


folder = path("project")
os.mkdir(folder)
with open(os.path.join(folder, "Garbage.java"), "w") as file:
    file.write(GARBAGE_JAVA)
subprocess.run(["javac", "Garbage.java"], cwd=folder, check=True)
kinds = scenarios(folder)
with open(os.path.join(folder, "highwater.yml"), "w") as file:
    # JSON is YAML.
    json.dump({"version": 1, "history": "off", "defaults": {"explain": "off"},
               "scenarios": [scenario for _, scenario in kinds]}, file)
check(folder, 1)
subprocess.run([HIGHWATER, "approve", "--force"], cwd=folder, check=True, stdout=subprocess.DEVNULL)

jobs = [1, 2, 4]
checks = {count: check(folder, count) for count in jobs}
rows = []
for kind in dict.fromkeys(kind for kind, _ in kinds):
    names = [scenario["name"] for other, scenario in kinds if other == kind]
    row = [kind, len(names)]
    for count in jobs:
        results = [checks[count][1][name] for name in names]
        other = [f"{sum(result['verdict'] == verdict for result in results)} {verdict}"
                 for verdict in ["improved", "inconclusive", "regression", "failed"]
                 if any(result["verdict"] == verdict for result in results)]
        row += [", ".join(other) or "none", largest_change(results)]
    rows.append(row)
rows.append(["seconds", len(kinds), *(cell for count in jobs for cell in ["", f"{checks[count][0]:.0f}"])])
table("Jobs: verdicts other than pass, and the largest change of a gated metric in percent",
      ["", "scenarios", *(cell for count in jobs for cell in [f"--jobs {count}", "largest"])], rows)
