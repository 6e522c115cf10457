"""Runs the shell steps of a GitHub action, or of a job of GitHub or GitLab, as their runners do.

Arguments: SYSTEM FILE JOB CONTEXTS [NAME]. CONTEXTS is JSON, with what `github.x` or `inputs.x` stands for. Steps that
use actions are left out, and the installation, since the program is on the PATH. With NAME, only that step is run.
"""
import json, os, re, subprocess, sys, yaml

system, file, job, contexts = sys.argv[1:5]
contexts = json.loads(contexts)
installed, here = "/usr/share/highwater/pipelines", os.path.dirname(os.path.dirname(os.path.abspath(file)))
text = open(file).read().replace(installed, here)


def evaluated(expression):
    """The first part of `a || b` that is not empty; texts in quotes stand for themselves."""
    parts = [part.strip() for part in expression.split("||")]
    values = [part[1:-1] if part[:1] == "'" else value(part) for part in parts]
    return next((text for text in values if text), "")


def value(path):
    found = contexts
    for key in path.split("."):
        found = found.get(key, "") if isinstance(found, dict) else ""
    return str(found)


def run(shell, script, variables={}):
    assert "{{" not in script, f"an expression becomes part of a script: {script}"
    return subprocess.run(shell + ["-c", script], env={**os.environ, **variables}).returncode


def github():
    definition = yaml.safe_load(text)
    steps = definition["runs"]["steps"] if job == "action" else definition["jobs"][job]["steps"]
    failure = 0
    for step in steps:
        if "run" not in step or step.get("name") == "install" or (sys.argv[5:] or [step.get("name")])[0] != step.get("name"):
            continue
        if failure and "always()" not in step.get("if", ""):
            continue
        variables = {
            name: re.sub(r"\$\{\{ *([^}]*?) *\}\}", lambda match: evaluated(match[1]), text)
            for name, text in step.get("env", {}).items()
        }
        failure = run(["bash", "--noprofile", "--norc", "-eo", "pipefail"], step["run"], variables) or failure
    return failure


def gitlab():
    head, jobs = yaml.safe_load_all(text)
    inputs = {name: rule.get("default", "") for name, rule in head["spec"]["inputs"].items()} | contexts["inputs"]
    script = "\n".join(jobs[job]["script"])
    return run(["sh", "-e"], re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: inputs[match[1]], script))


sys.exit({"github": github, "gitlab": gitlab}[system]())
