extension Malformed {
  /// What stands beside the scenarios.
  static let projects: [Malformed] = [
    Malformed(
      "defaults with a name",
      #"""
      version: 1
      defaults: {name: x, warmup: lots}
      scenarios:
        - name: a
          target: {command: [sleep, '1']}
        - name: b
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:12: error: no `defaults` has the key `name`
          hint: its keys are `description`, `tags`, `setup`, `teardown`, `ready`, `steps`, `stop`, `until`, `expect`, `timeout`, `repetitions`, `warmup`, `interval`, `memory-limit`, `isolation`, `gate`
        highwater.yml:2:29: error: `warmup` must be a whole number from 0 to 100, not `lots`
          hint: such as `warmup: 1`
        """#
    ),
    Malformed(
      "a webhook whose variables are not set",
      #"""
      version: 1
      webhooks:
        - url: ${URL}
          secret: ${SECRET}
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:10: error: the environment variable `URL` is not set, or is empty
          hint: set it where highwater runs
        highwater.yml:4:13: error: the environment variable `SECRET` is not set, or is empty
          hint: set it where highwater runs
        """#
    ),
    Malformed(
      "a webhook that is not of the web",
      #"""
      version: 1
      webhooks:
        - url: ftp://user:password@host/
          on: allways
        - url: ${SET}
        - format: xml
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:10: error: `url` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        highwater.yml:4:9: error: `on` must be one of `always`, `failure`, `change`, not `allways`
          hint: did you mean `always`?
        highwater.yml:5:10: error: `url` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        highwater.yml:6:5: error: a webhook needs `url`
        highwater.yml:6:13: error: `format` must be one of `json`, `slack`, `teams`, `discord`, not `xml`
        """#
    ),
    Malformed(
      "a variable with a default",
      #"""
      version: 1
      artifacts: ${OUT:-out}
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:12: error: `${OUT:-out}` is not a variable
          hint: write `${NAME}`, or `$${` for the characters `${` themselves
        """#
    ),
    Malformed(
      "an include that matches nothing",
      #"""
      version: 1
      include: [scenarios/*.yml, ../x.yml, /etc/passwd]
      """#,
      is: #"""
        highwater.yml:2:11: error: no file matches `scenarios/*.yml`
        highwater.yml:2:28: error: `../x.yml` leads out of the project's folder
          hint: included files lie in the folder with `.git`
        highwater.yml:2:38: error: `/etc/passwd` leads out of the project's folder
          hint: included files lie in the folder with `.git`
        """#
    ),
    Malformed(
      "an environment with faults",
      #"""
      version: 1
      environment: {name: a b, ignore: [cpu, kernel, nonsense]}
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:21: error: `a b` is not a name
          hint: a name is a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -
        highwater.yml:2:35: error: `ignore` must be one of `architecture`, `pageSize`, `cpus`, `aslr`, `thp`, `measurement`, `memoryLimit`, not `cpu`
          hint: did you mean `cpus`?
        highwater.yml:2:40: error: `kernel` is compared across anyway
          hint: what can be ignored is `architecture`, `pageSize`, `cpus`, `aslr`, `thp`, `measurement`, `memoryLimit`
        highwater.yml:2:48: error: `ignore` must be one of `architecture`, `pageSize`, `cpus`, `aslr`, `thp`, `measurement`, `memoryLimit`, not `nonsense`
        """#
    ),
    Malformed(
      "a link that leads nowhere",
      #"""
      version: 1
      links: {commit: "https://git.example/commits", build: x}
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:17: error: `commit` does not say where the commit's id goes
          hint: links: {commit: "https://git.example/commit/{commit}"}
        highwater.yml:2:48: error: no `links` has the key `build`
          hint: its keys are `commit`
        """#
    ),
    Malformed(
      "a link that is no address",
      #"""
      version: 1
      links: {commit: "javascript:{commit}"}
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:17: error: `commit` is not the address of a web server
          hint: it starts with `http://` or `https://` and a host, and has no blanks
        """#
    ),
    Malformed(
      "faults of many kinds in one file",
      #"""
      version: 1
      histroy: off
      baselines: 5
      artifacts: []
      scenarios:
        - name: a
          target: {command: ls}
          gate: {growth: 3}
        - name: a
          target: {shell: ls}
          timeout: 3
          steps: [{wait: 1}, {mark: "-"}]
      """#,
      is: #"""
        highwater.yml:2:1: error: no project file has the key `histroy`
          hint: did you mean `history`?
        highwater.yml:4:12: error: `artifacts` must be a text, not a list
          hint: such as `artifacts: a`
        highwater.yml:7:23: error: `command` must be a list of words, not `ls`
          hint: such as `command: [sleep, 1]`; a line for the shell is `shell: "…"`
        highwater.yml:8:20: error: the tolerance `3` has no unit
          hint: write a share such as `3%`, a size such as `512KiB`, both as `[3%, 512KiB]`, or `auto`
        highwater.yml:9:5: error: the scenario `a` exists twice
          hint: the first is at highwater.yml:6:5
        highwater.yml:11:14: error: the duration `3` has no unit
          hint: write one of ms, s, m, h, such as `10s`
        highwater.yml:12:20: error: the duration `1` has no unit
          hint: write one of ms, s, m, h, such as `10s`
        highwater.yml:12:31: error: `-` is not a name
          hint: a name is a letter or digit, then at most 99 of A-Z a-z 0-9 . _ -
        """#
    ),
    Malformed(
      "no history, in the wrong words",
      #"""
      version: 1
      history: null
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:1: error: the key `history` has no value
          hint: `history: off` for none
        """#
    ),
  ]
}
