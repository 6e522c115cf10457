"""Jobs: 40 scenarios, measured one after the other and side by side, against baselines measured one after the other."""

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
        allocate = f"import time; x=[bytearray(1000) for _ in range({2000 * number})]; time.sleep(0.3)"
        found += [("C", program(*ballast("hold", f"mib={4 * number}", "ms=200"))),
                  ("shell", program("sh", "-c", f"for i in 1 2 3; do sleep 0.{number}; done")),
                  ("SQLite", program("sqlite3", ":memory:", QUERY.format(rows=20_000 * number))),
                  ("Python", program(sys.executable, "-c", allocate))]
    for number in range(1, several(5, 1) + 1):
        found += [("redis", redis(1000 * number)),
                  ("Node", program("node", "-e", GARBAGE_NODE.format(every=50 * number))),
                  ("Java", program("java", "-Xmx256m", "-cp", folder, "Garbage", str(50 * number)))]
    found.append(("redis", redis(6000)))
    return [(kind, {"name": f"{kind}-{index}", **definition}) for index, (kind, definition) in enumerate(found)]


def program(*command):
    return {"target": {"command": command}}


def redis(keys):
    server = program("redis-server", "--port", "{{port}}", "--save", "", "--enable-debug-command", "yes")
    return {**server, "ready": {"tcp": "{{port}}"}, "steps": [
        {"run": ["redis-cli", "-p", "{{port}}", "debug", "populate", str(keys)]}, {"settle": {"within": "10s"}}]}


def check(folder, jobs):
    """The seconds of a check, and its scenarios by name."""
    words = ["check", "--quiet", "--allow-missing-baseline", "--jobs", str(jobs)]
    taken = seconds(HIGHWATER, *words, codes=(0, 1, 3, 4), cwd=folder)
    return taken, {scenario["name"]: scenario for scenario in last_result(folder)["scenarios"]}


def largest_change(results):
    """Of the gated metrics of these scenarios, in percent of the baseline."""
    changes = [100 * abs(metric["change"]["absolute"]) / metric["baseline"]["median"] for result in results
               for metric in result["metrics"] if "change" in metric and metric["baseline"]["median"]]
    return f"{max(changes, default=0):.2f}"


folder = path("project")
os.mkdir(folder)
with open(os.path.join(folder, "Garbage.java"), "w") as file:
    file.write(GARBAGE_JAVA)
seconds("javac", "Garbage.java", cwd=folder)
kinds = scenarios(folder)
with open(os.path.join(folder, "highwater.yml"), "w") as file:
    # JSON is YAML.
    json.dump({"version": 1, "history": "off", "defaults": {"explain": "off"},
               "scenarios": [scenario for _, scenario in kinds]}, file)
check(folder, 1)
seconds(HIGHWATER, "approve", "--force", cwd=folder)

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
