// Loaded by `highwater suite`: reports the memory of this process before and after each test of node:test.
//
// The format is that of highwater_pytest.py. A test within another one belongs to it; files without a test of
// HIGHWATER_ONLY end at once.
import fs from 'node:fs';
import path from 'node:path';

const folder = process.env.HIGHWATER_TESTS;
const only = process.env.HIGHWATER_ONLY;
const file = process.argv[1] && path.relative(process.cwd(), process.argv[1]);

// Only the processes that `node --test` starts for its files.
if (folder && file && process.env.NODE_TEST_CONTEXT) {
  const chosen = only && new Set(JSON.parse(fs.readFileSync(only, 'utf8')));
  if (chosen && ![...chosen].some((name) => name.startsWith(`${file} > `))) process.exit(0);
  const log = fs.openSync(path.join(folder, `${process.pid}.jsonl`), 'a', 0o600);
  const status = fs.openSync('/proc/self/status', 'r');
  const buffer = Buffer.alloc(8192);
  let mark = null;
  try {
    mark = fs.openSync('/proc/self/clear_refs', 'w');
  } catch {}
  let open = null;

  const memory = () => {
    const text = buffer.latin1Slice(0, fs.readSync(status, buffer, 0, buffer.length, 0));
    const field = (name) => Number(text.match(new RegExp(`${name}:\\s*(\\d+)`))[1]) * 1024;
    return {resident: field('VmRSS'), peak: field('VmHWM')};
  };
  const reset = () => {
    try {
      return mark !== null && fs.writeSync(mark, '5') > 0;
    } catch {
      return false;
    }
  };
  const nameOf = (test) => `${file} > ${test.fullName ?? test.name}`;
  const write = (fields) => fs.writeSync(log, `${JSON.stringify(fields)}\n`);

  const {beforeEach, afterEach} = await import('node:test');
  beforeEach((test) => {
    const name = nameOf(test);
    if (open?.name && name.startsWith(`${open.name} > `)) return;
    if (chosen && !chosen.has(name)) return;
    open = {name, started: performance.now()};
    const isReset = reset();
    write({event: 'begin', test: name, file, ...memory(), reset: isReset});
  });
  afterEach((test) => {
    const name = nameOf(test);
    if (open?.name && open.name !== name && name.startsWith(`${open.name} > `)) return;
    if (chosen && !chosen.has(name)) return;
    const outcome = test.error ? 'failed' : 'passed';
    write({event: 'end', test: name, outcome, ...memory(), seconds: (performance.now() - (open?.started ?? 0)) / 1000});
    open = null;
  });
}
