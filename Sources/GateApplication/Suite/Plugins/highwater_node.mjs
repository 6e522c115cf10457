// Loaded by `highwater suite`: reports the memory of this process before and after each test of node:test.
//
// The format is that of highwater_pytest.py, and so is PID.recording. A test within another one belongs to it; files without a
// test of HIGHWATER_ONLY end at once.
import fs from 'node:fs';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';

const folder = process.env.HIGHWATER_TESTS;
const only = process.env.HIGHWATER_ONLY;
// A test that keeps this much may leave garbage.
const collected = 1 << 20;
const file = process.argv[1] && path.relative(process.cwd(), process.argv[1]);

// Only the processes that `node --test` starts for its files.
if (folder && file && process.env.NODE_TEST_CONTEXT) {
  const chosen = only && new Set(JSON.parse(fs.readFileSync(only, 'utf8')));
  if (chosen && ![...chosen].some((name) => name.startsWith(`${file} > `))) process.exit(0);
  // Tests may replace these.
  const {closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync} = fs;
  const now = performance.now.bind(performance);
  const base = path.join(folder, `${process.pid}`);
  closeSync(openSync(`${base}.recording`, 'w', 0o600));
  const log = openSync(`${base}.jsonl`, 'a', 0o600);
  const status = openSync('/proc/self/status', 'r');
  const buffer = Buffer.alloc(8192);
  let mark = null;
  try {
    mark = openSync('/proc/self/clear_refs', 'w');
  } catch {}
  let [open, begun, lost] = [null, false, false];

  // A test may close a descriptor, and then open another file with its number.
  const identities = () => [log, status, ...(mark === null ? [] : [mark])].map((file) => {
    const {dev, ino} = fstatSync(file);
    return `${dev}:${ino}`;
  }).join();
  const known = identities();
  const attempt = (record) => {
    if (lost) return;
    try {
      if (identities() !== known) throw new Error('closed by a test');
      record();
    } catch {
      lost = true;
    }
  };

  const memory = () => {
    const text = buffer.latin1Slice(0, readSync(status, buffer, 0, buffer.length, 0));
    const field = (name) => Number(text.match(new RegExp(`${name}:\\s*(\\d+)`))[1]) * 1024;
    return {resident: field('VmRSS'), peak: field('VmHWM')};
  };
  const reset = () => {
    try {
      return mark !== null && writeSync(mark, '5') > 0;
    } catch {
      return false;
    }
  };
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  // What a test keeps is what is left after a collection.
  const memoryAfter = () => {
    const now = memory();
    if (now.resident - (open?.resident ?? 0) <= collected) return now;
    // The second one waits until the buffers that the first one found are free.
    for (let left = 2; left > 0; left--) collect();
    return {...now, resident: memory().resident};
  };
  const nameOf = (test) => `${file} > ${test.fullName ?? test.name}`;
  const write = (fields) => {
    const line = Buffer.from(`${JSON.stringify(fields)}\n`);
    if (writeSync(log, line) < line.length) throw new Error('no space left');
  };

  // What hooks of a file or a suite take belongs to the test after them; what they give back does not hide what it takes.
  let level = null;
  const settle = () => {
    const isReset = reset();
    level = {...memory(), isReset};
  };
  const start = () => {
    if (level === null || memory().resident <= level.resident) settle();
    return level;
  };

  const {before, beforeEach, afterEach} = await import('node:test');
  before(() => attempt(settle));
  beforeEach((test) => {
    const name = nameOf(test);
    if (open?.name && name.startsWith(`${open.name} > `)) return;
    if (chosen && !chosen.has(name)) return;
    [open, begun] = [{name, started: now()}, true];
    attempt(() => {
      const {resident, peak, isReset} = start();
      open.resident = resident;
      write({event: 'begin', test: name, file, resident, peak, reset: isReset});
    });
  });
  afterEach((test) => {
    const name = nameOf(test);
    if (open?.name && open.name !== name && name.startsWith(`${open.name} > `)) return;
    if (chosen && !chosen.has(name)) return;
    const outcome = test.error ? 'failed' : 'passed';
    const seconds = (now() - (open?.started ?? 0)) / 1000;
    attempt(() => {
      write({event: 'end', test: name, outcome, ...memoryAfter(), seconds});
      settle();
    });
    open = null;
  });
  const finish = (code) => {
    // A file that cannot be loaded is a failed test of its name.
    if (code !== 0 && !begun) {
      attempt(() => {
        write({event: 'begin', test: file, file, ...memory(), reset: false});
        write({event: 'end', test: file, outcome: 'failed', ...memory(), seconds: 0});
      });
    }
    attempt(() => unlinkSync(`${base}.recording`));
    lost = true;
  };
  process.on('exit', finish);
  // After an error in loading a file, node:test lets no `exit` come.
  process.on('uncaughtExceptionMonitor', () => begun || finish(1));
}
