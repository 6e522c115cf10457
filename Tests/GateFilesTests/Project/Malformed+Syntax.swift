extension Malformed {
  /// What is no YAML, or no project at all.
  static let syntax: [Malformed] = [
    Malformed(
      "blanks and comments only",
      #"""
      # nothing yet
      """#,
      is: #"""
        highwater.yml: error: the file is empty
          hint: start it with `version: 1`
        """#
    ),
    Malformed(
      "a list instead of a mapping",
      #"""
      - name: load
      """#,
      is: #"""
        highwater.yml:1:1: error: a project file must be a mapping, not a list
          hint: such as `version: 1`
        """#
    ),
    Malformed(
      "a word",
      #"""
      version
      """#,
      is: #"""
        highwater.yml:1:1: error: a project file must be a mapping, not `version`
          hint: such as `version: 1`
        """#
    ),
    Malformed(
      "no version",
      #"""
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:1:1: error: the file does not say its version
          hint: add `version: 1`
        """#
    ),
    Malformed(
      "another version",
      #"""
      version: 2
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:1:10: error: `version` must be 1, not `2`
          hint: this highwater reads version 1
        """#
    ),
    Malformed(
      "a version in quotes",
      #"""
      version: "1"
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:1:10: error: `version` must be 1, not the text `1`
          hint: this highwater reads version 1
        """#
    ),
    Malformed(
      "no scenarios",
      #"""
      version: 1
      """#,
      is: #"""
        highwater.yml:1:1: error: the project has no scenarios
          hint: add a list `scenarios:`
        """#
    ),
    Malformed(
      "an empty list of scenarios",
      #"""
      version: 1
      scenarios: []
      """#,
      is: #"""
        highwater.yml:1:1: error: the project has no scenarios
          hint: add a list `scenarios:`
        """#
    ),
    Malformed(
      "scenarios as a mapping",
      #"""
      version: 1
      scenarios:
        load: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:3:3: error: `scenarios` must be a list, not a mapping
          hint: such as `scenarios: [{name: load, …}]`
        """#
    ),
    Malformed(
      "a scenario that is a word",
      #"""
      version: 1
      scenarios:
        - load
      """#,
      is: #"""
        highwater.yml:3:5: error: a scenario must be a mapping, not `load`
          hint: such as `- name: load`
        """#
    ),
    Malformed(
      "an unknown key of the file",
      #"""
      version: 1
      scenarois: []
      """#,
      is: #"""
        highwater.yml:2:1: error: no project file has the key `scenarois`
          hint: did you mean `scenarios`?
        """#
    ),
    Malformed(
      "an unknown key with nothing like it",
      #"""
      version: 1
      colour: red
      """#,
      is: #"""
        highwater.yml:2:1: error: no project file has the key `colour`
          hint: its keys are `version`, `baselines`, `history`, `artifacts`, `environment`, `include`, `defaults`, `links`, `webhooks`, `scenarios`
        """#
    ),
    Malformed(
      "a key without a value",
      #"""
      version: 1
      baselines:
      scenarios:
        - name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:2:1: error: the key `baselines` has no value
          hint: write one, or remove the key
        """#
    ),
    Malformed(
      "a tab as indentation",
      #"""
      version: 1
      scenarios:
      	- name: load
      """#,
      is: #"""
        highwater.yml:3:1: error: this is not YAML: found character that cannot start any token while scanning for the next token
          hint: indent with spaces; YAML takes no tabs
        """#
    ),
    Malformed(
      "an open bracket",
      #"""
      version: 1
      scenarios:
        - name: load
          target: {command: [sleep, '1'
          warmup: 1
      """#,
      is: #"""
        highwater.yml:5:5: error: this is not YAML: did not find expected ',' or ']' while parsing a flow sequence
          hint: it begins at line 4, column 23
        """#
    ),
    Malformed(
      "an open quote",
      #"""
      version: 1
      baselines: "b
      scenarios: []
      """#,
      is: #"""
        highwater.yml:4:1: error: this is not YAML: found unexpected end of stream while scanning a quoted scalar
          hint: it begins at line 2, column 12
        """#
    ),
    Malformed(
      "a colon in a text",
      #"""
      version: 1
      scenarios:
        - name: load
          description: one: two
      """#,
      is: #"""
        highwater.yml:4:21: error: this is not YAML: mapping values are not allowed in this context
          hint: a text with `: ` in it needs quotes
        """#
    ),
    Malformed(
      "a text that starts with %",
      #"""
      version: 1
      baselines: %b
      """#,
      is: #"""
        highwater.yml:2:12: error: this is not YAML: found character that cannot start any token while scanning for the next token
          hint: a text that starts with `%`, `@` or a backtick needs quotes
        """#
    ),
    Malformed(
      "a glob without quotes",
      #"""
      version: 1
      include:
        - *.yml
      """#,
      is: #"""
        highwater.yml:3:6: error: this is not YAML: did not find expected alphabetic or numeric character while scanning an alias
          hint: a text that starts with `*` or `&` needs quotes
        """#
    ),
    Malformed(
      "an alias without an anchor",
      #"""
      version: 1
      baselines: *b
      """#,
      is: #"""
        highwater.yml:2:12: error: this is not YAML: found undefined alias
          hint: a text that starts with `*` or `&` needs quotes
        """#
    ),
    Malformed(
      "two documents",
      #"""
      version: 1
      ---
      version: 1
      """#,
      is: #"""
        highwater.yml:2:1: error: the file holds a second document
          hint: remove the line `---` before it
        """#
    ),
    Malformed(
      "wrong indentation",
      #"""
      version: 1
      scenarios:
        - name: load
         warmup: 1
      """#,
      is: #"""
        highwater.yml:4:4: error: this is not YAML: did not find expected '-' indicator while parsing a block collection
          hint: it begins at line 3, column 3
        """#
    ),
    Malformed(
      "a tag",
      #"""
      version: 1
      baselines: !folder b
      """#,
      is: #"""
        highwater.yml:2:12: error: the tag `!folder` means nothing in a project file
          hint: a text that starts with `!` needs quotes
        """#
    ),
    Malformed(
      "a merge key",
      #"""
      version: 1
      defaults: &d {warmup: 1}
      scenarios:
        - <<: *d
          name: load
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:4:5: error: no scenario has the key `<<`
          hint: merge keys are not part of YAML 1.2; `defaults:` shares what scenarios have in common
        """#
    ),
    Malformed(
      "a list as a key",
      #"""
      version: 1
      ? [a, b]
      : 1
      """#,
      is: #"""
        highwater.yml:2:3: error: a key must be plain text, not a list, a mapping or an alias
        """#
    ),
    Malformed(
      "an alias as a key",
      #"""
      version: &v 1
      *v : 1
      """#,
      is: #"""
        highwater.yml:2:1: error: a key must be plain text, not a list, a mapping or an alias
        """#
    ),
    Malformed(
      "a duplicate key",
      #"""
      version: 1
      scenarios:
        - name: load
          warmup: 1
          warmup: 2
          target: {command: [sleep, '1']}
      """#,
      is: #"""
        highwater.yml:4:5: error: the key `warmup` stands twice in one mapping
          hint: remove one of them
        """#
    ),
    Malformed(
      "two duplicate keys",
      #"""
      version: 1
      history: off
      version: 1
      history: off
      """#,
      is: #"""
        highwater.yml:2:1: error: keys stand twice in one mapping: `history`, `version`
          hint: remove one of them
        """#
    ),
  ]
}
