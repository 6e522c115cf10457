"""Runs the steps of a GitHub action, or of a job of GitHub, GitLab or Jenkins, as their runners do.

Arguments: SYSTEM FILE JOB CONTEXTS [NAME]. CONTEXTS is JSON, with what `github.x` or `inputs.x` stands for; for Jenkins,
`params.x` and `env.x`. The installation is left out, since the program is on the PATH. With NAME, only that step is run.

With CI_STORE, a folder, caches and artifacts are stored there as the systems do: a cache of GitHub belongs to the branch of
CI_SCOPE, and the main branch's is read where it has none; protected branches of GitLab have a cache of their own; a job of
Jenkins has the artifacts of its last build.
"""
import json, os, re, shutil, subprocess, sys, yaml

system, file, job, contexts = sys.argv[1:5]
contexts = {"runner": {"temp": os.environ.get("RUNNER_TEMP", "")}} | json.loads(contexts)
installed, here = "/usr/share/highwater/pipelines", os.path.dirname(os.path.dirname(os.path.abspath(file)))
store, scope = os.environ.get("CI_STORE"), os.environ.get("CI_SCOPE", "")


def read(path):
    return open(path).read().replace(installed, here)


text = read(file)


def evaluated(expression, contexts):
    """The first part of `a || b` that is not empty; texts in quotes stand for themselves."""
    parts = [part.strip() for part in expression.split("||")]
    values = [part[1:-1] if part[:1] == "'" else value(part, contexts) for part in parts]
    return next((text for text in values if text), "")


def value(path, found):
    for key in path.split("."):
        found = found.get(key, "") if isinstance(found, dict) else ""
    return str(found)


def filled(text, contexts):
    return re.sub(r"\$\{\{ *([^}]*?) *\}\}", lambda match: evaluated(match[1], contexts), str(text))


def run(shell, script, variables={}):
    assert "{{" not in script, f"an expression becomes part of a script: {script}"
    return subprocess.run(shell + ["-c", script], env={**os.environ, **variables}).returncode


def copy(paths, source, target):
    """Copies files and folders that exist, and replaces what the target has of them."""
    for path in paths:
        (have, place) = (os.path.normpath(os.path.join(side, path)) for side in (source, target))
        if os.path.isdir(have):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(have, place, symlinks=True)
        elif os.path.exists(have):
            os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
            shutil.copy(have, place)


# GitHub


def github():
    definition = yaml.safe_load(text)
    steps = definition["runs"]["steps"] if job == "action" else definition["jobs"][job]["steps"]
    return github_steps(steps, contexts)


def github_steps(steps, contexts):
    failure = 0
    for step in steps:
        if step.get("name") == "install" or (sys.argv[5:] or [step.get("name")])[0] != step.get("name"):
            continue
        condition = step.get("if", "")
        wanted = "inputs.check" not in condition or contexts.get("inputs", {}).get("check", "true") == "true"
        if not wanted or failure and "always()" not in condition:
            continue
        if "uses" in step:
            failure = github_action(step["uses"].split("@")[0], step, contexts) or failure
            continue
        variables = {name: filled(text, contexts) for name, text in step.get("env", {}).items()}
        failure = run(["bash", "--noprofile", "--norc", "-eo", "pipefail"], step["run"], variables) or failure
        github_outputs(step, contexts)
    return failure


def github_outputs(step, contexts):
    """Later steps read `steps.ID.outputs.NAME`."""
    path = os.environ.get("GITHUB_OUTPUT", "")
    if "id" in step and os.path.exists(path):
        outputs = dict(line.rstrip("\n").split("=", 1) for line in open(path) if "=" in line)
        contexts.setdefault("steps", {})[step["id"]] = {"outputs": outputs}


def github_action(name, step, contexts):
    given = {key: filled(text, contexts) for key, text in step.get("with", {}).items()}
    if name.endswith("/ci/pipelines/github"):
        action = yaml.safe_load(read(f"{here}/github/action.yml"))
        inputs = {key: rule.get("default", "") for key, rule in action["inputs"].items()} | given
        return github_steps(action["runs"]["steps"], contexts | {"inputs": inputs})
    if not store:
        return 0
    paths = given.get("path", "").split()
    if name == "actions/cache/restore":
        own, main = f"{store}/cache/{scope}", f"{store}/cache/main"
        copy(paths, own if os.path.isdir(own) else main, ".")
    elif name == "actions/cache/save":
        copy(paths, ".", f"{store}/cache/{scope}")
    elif name == "actions/upload-artifact":
        # The artifact has what is in the folder.
        copy(["."], given["path"], f"{store}/runs/{os.environ['GITHUB_RUN_ID']}/{given['name']}")
    elif name == "actions/download-artifact":
        copy(["."], f"{store}/runs/{given['run-id']}/{given['name']}", given["path"])
    return 0


# GitLab


def gitlab():
    head, jobs = yaml.safe_load_all(text)
    inputs = {name: rule.get("default", "") for name, rule in head["spec"]["inputs"].items()} | contexts["inputs"]
    definition = jobs[job]
    cache = f"{store}/cache/{'protected' if scope == 'main' else 'others'}"
    if store and definition.get("needs"):
        subprocess.run(["unzip", "-qo", f"{store}/artifacts.zip"], check=True)
    if store and "cache" in definition:
        copy(definition["cache"]["paths"], cache, ".")
    script = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: inputs[match[1]], "\n".join(definition["script"]))
    code = run(["sh", "-e"], script)
    if store and "cache" in definition:
        copy(definition["cache"]["paths"], ".", cache)
    if store and "paths" in definition.get("artifacts", {}):
        subprocess.run(["rm", "-f", f"{store}/artifacts.zip"])
        subprocess.run(["zip", "-qr", f"{store}/artifacts.zip"] + definition["artifacts"]["paths"], check=True)
    return code


# Jenkins


def jenkins():
    variables = {name: text for name, text in contexts.get("env", {}).items()}
    block = jenkins_block(text, rf"stage\('{job}'\) \{{") if job != "comment" else text[text.rindex("\n  post {") :]
    parts = block.split("post {") if job == "check" else [block]
    for name, expression in re.findall(r"^ *(\w+) = (.*)$", jenkins_block(block, r"environment \{"), re.M):
        variables[name] = jenkins_value(expression)
    # Of `env.NAME = currentBuild.getBuildCauses(…)[0]?.userId ?: 'other'` the user who started the build is known.
    for name, other in re.findall(r"^ *env\.(\w+) = currentBuild\..*\.userId \?: '(\w+)'$", block, re.M):
        variables[name] = contexts.get("user") or other
    failure = 0
    for number, part in enumerate(parts):
        if number == 0 or job == "check":
            failure = jenkins_steps(part, variables) or failure
    return failure


def jenkins_block(text, start):
    """What is between the braces after the pattern; nothing if it does not occur."""
    match = re.search(start, text)
    if not match:
        return ""
    depth = 1
    for index in range(match.end(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[match.end() : index]
    raise ValueError(f"no end of {start}")


def jenkins_value(expression):
    """`credentials('x')` is the token; of "${a ?: 'b'}" and "${a ? 'b' : 'c'}" the known part."""
    if expression.startswith("credentials("):
        return os.environ["HIGHWATER_TOKEN"]
    match = re.fullmatch(r'"\$\{([\w.]+) (\?:?) ([^:]+?)(?: : (.*))?\}"', expression)
    given = value(match[1], contexts)
    chosen = given or match[3] if match[2] == "?:" else match[3] if given else match[4]
    return chosen if chosen == given else chosen[1:-1] if chosen[0] == "'" else value(chosen, contexts)


def jenkins_steps(part, variables):
    builds, folder = f"{store}/builds", os.getcwd()
    own = f"{builds}/{variables['JOB_NAME']}"
    target = f"{builds}/{os.path.dirname(variables['JOB_NAME'])}/{variables.get('CHANGE_TARGET', '')}"
    for step in re.findall(r"\b(?:sh '.*'|copyArtifacts [^)]*\)[^\n]*(?:\n *target: '\w+')?|archiveArtifacts .*"
                           r"|unstash .*|deleteDir\(\)|dir\('\w+'\)|checkout scm)", part):
        if step.startswith("sh "):
            code = run(["sh", "-e"], step[4:-1], variables)
            if code:
                return code
        elif step.startswith("copyArtifacts"):
            to = (re.findall(r"target: '(\w+)'", step) or ["."])[0]
            paths = [path.removesuffix("/**") for path in re.search(r"filter: '([^']*)'", step)[1].split(",")]
            for source in ([target] if variables.get("CHANGE_TARGET") and to == "." else []) + [own]:
                copy(paths, source, to)
        elif step.startswith("archiveArtifacts"):
            shutil.rmtree(own, ignore_errors=True)
            copy([".highwater"], ".", own)
        elif step.startswith("unstash"):
            copy([".highwater/comment.md"], own, ".")
        elif step.startswith("deleteDir"):
            subprocess.run("find . -mindepth 1 -delete", shell=True, check=True)
        elif step.startswith("dir("):
            os.mkdir(step[5:-2])
            os.chdir(step[5:-2])
        else:
            run(["sh", "-e"], 'git clone -q "$ORIGIN" . && git checkout -q "origin/$BRANCH_NAME"', variables)
    os.chdir(folder)
    return 0


sys.exit({"github": github, "gitlab": gitlab, "jenkins": jenkins}[system]())
