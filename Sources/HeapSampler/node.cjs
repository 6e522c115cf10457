/// Loaded into the Node.js programs of a profiled target (NODE_OPTIONS=--require): samples what V8 allocates, and writes
/// again and again which call stacks hold the live objects of each thread, to a file beside the run (HeapLog.swift).
///
/// A thread of its own asks the main thread for its profile, which answers also while it runs JavaScript without a pause:
/// so a peak within one call is seen. It throws nothing into the program, and does not keep it running. Its syntax is that
/// of Node.js 10, since it is loaded into any version.
'use strict';
(() => {
  const [, interval, folder] = /^(\d+):([^]*)$/.exec(process.env.HIGHWATER_HEAPS || '') || [];
  const fs = require('fs');

  /// V8 opens a log of each thread in the working directory when it is to name its code (`isolate-ADDRESS-PROCESS-v8.log`,
  /// Node.js 20), and NODE_OPTIONS takes no flag against that: removes the first thread's, and has those of later ones opened
  /// beside the run. Logs that the program's own options ask for stay.
  const hideLogs = () => {
    if (process.execArgv.some((word) => /^--(log|prof)/.test(word))) return;
    const isLog = (name) => name.startsWith('isolate') && name.endsWith(`-${process.pid}-v8.log`);
    try { for (const name of fs.readdirSync('.').filter(isLog)) fs.unlinkSync(name); } catch (error) {}
    if (!/\s/.test(folder)) require('v8').setFlagsFromString(`--logfile=${folder}/v8.log`);
  };

  const time = () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e9 + nanoseconds;
  };

  /// Of the process.
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) * 1e3;
  };

  const size = () => (process.memoryUsage.rss || (() => process.memoryUsage().rss))();

  /// A name or path on one line, without tabs.
  const line = (text) => text.replace(/[\x00-\x1f\x7f]/g, '?');

  /// Code of V8 itself has no file. That of a module outside of functions is at the module's start.
  const functionName = ({ functionName, url, lineNumber, columnNumber }) => {
    if (url === '') return `Builtin:${functionName}`;
    return functionName || (lineNumber === 0 && columnNumber === 0 ? '(anonymous)' : '<anonymous>');
  };

  const path = (url) => {
    try { return url.startsWith('file://') ? require('url').fileURLToPath(url) : url; } catch (error) { return url; }
  };

  /// A file of complete profiles; its name is `PROCESS.THREAD.WRITER`.
  class Log {
    constructor(folder, thread, writer, start) {
      this.path = `${folder}/${process.pid}.${thread}.${writer}`;
      this.file = fs.openSync(this.path, 'wx', 0o644);
      this.functions = new Map();
      this.nodes = new Set();
      this.add(`heap\tnode\t${start}\n`);
    }

    add(text) { fs.writeSync(this.file, text); }

    /// Adds what a profile of V8 has as live, nodes that are new first; how many bytes that is.
    record(profile, interval) {
      const lines = [], live = [];
      let sum = 0;
      const open = profile.head.children.map((node) => [node, 0]);
      while (open.length > 0) {
        const [node, caller] = open.pop();
        this.define(node, caller, lines);
        if (node.selfSize > 0) live.push(`live\t${node.id}\t${Math.round(node.selfSize)}\n`);
        sum += node.selfSize;
        for (const child of node.children) open.push([child, node.id]);
      }
      this.add(`${lines.join('')}profile\t${time()}\t${interval}\n${live.join('')}end\n`);
      return sum;
    }

    define(node, caller, lines) {
      if (this.nodes.has(node.id)) return;
      this.nodes.add(node.id);
      const { callFrame } = node, texts = [functionName(callFrame), path(callFrame.url)].map(line);
      const key = `${texts.join('\t')}\t${callFrame.lineNumber + 1}`;
      if (!this.functions.has(key)) {
        this.functions.set(key, this.functions.size + 1);
        lines.push(`function\t${this.functions.size}\t${key}\n`);
      }
      lines.push(`node\t${node.id}\t${caller}\t${this.functions.get(key)}\n`);
    }
  }

  /// Asks a session for a profile whenever one is due. Since it collects the garbage first, all of them together take a part
  /// of the CPU time: a new high is worth a third of it, anything else a sixth, and less while nothing changes.
  ///
  /// When the runner asks for it, one is due at once, and the answer is a file.
  const follow = (session, log, folder, interval) => {
    let isAsking = false, hasAnswered = false, high = 0, last = { live: 0, end: 0, cpu: 0, cost: 0 }, pause = 1e8;
    const isDue = (now) => {
      const used = cpu() - last.cpu;
      return now > high * 1.05 ? used > 2 * last.cost : time() - last.end > pause && used > 5 * last.cost;
    };
    const note = (profile, before, begin) => {
      const live = log.record(profile, interval);
      pause = Math.abs(live - last.live) > last.live / 100 ? 1e8 : Math.min(2 * pause, 4e9);
      last = { live, end: time(), cpu: cpu(), cost: cpu() - begin };
      high = Math.max(high, before);
    };
    return setInterval(() => {
      const before = size(), begin = cpu(), isWanted = !hasAnswered && fs.existsSync(`${folder}/now`);
      if (isAsking || !isWanted && !isDue(before)) return;
      isAsking = true;
      session.post('HeapProfiler.getSamplingProfile', (error, answer) => {
        isAsking = false;
        if (answer) note(answer.profile, before, begin);
        if (isWanted) fs.writeFileSync(log.path.replace(/running$/, 'done'), '');
        hasAnswered = hasAnswered || isWanted;
      });
    }, 5);
  };

  /// Starts sampling in this thread, which holds nothing yet; what it holds at its exit is written then.
  const sample = (inspector, thread, start) => {
    const session = new inspector.Session();
    session.connect();
    session.post('HeapProfiler.startSampling', { samplingInterval: Number(interval) }, (error) => {
      if (error) throw error;
    });
    new Log(folder, thread, 'start', start).record({ head: { children: [] } }, interval);
    process.on('exit', () => {
      try {
        const log = new Log(folder, thread, 'exit', start);
        session.post('HeapProfiler.getSamplingProfile', (error, answer) => {
          if (answer) log.record(answer.profile, interval);
        });
        if (thread > 0) log.add(`ended\t${time()}\n`);
      } catch (error) {}
    });
    return session;
  };

  try {
    const { isMainThread, threadId, Worker, workerData } = require('worker_threads');
    const inspector = require('inspector');
    const own = workerData && workerData.highwaterHeaps;
    if (own) {
      const session = new inspector.Session();
      session.connectToMainThread();
      follow(session, new Log(own.folder, 0, 'running', own.start), own.folder, own.interval);
    } else if (folder !== undefined) {
      // V8 takes an inlined function's objects for its caller's. It prints an error for a flag that it does not know.
      const flags = parseInt(process.versions.node) < 20 ? ['turbo'] : ['turbo', 'maglev'];
      for (const flag of flags) require('v8').setFlagsFromString(`--no-${flag}-inlining`);
      if (isMainThread) hideLogs();
      const start = time();
      const session = sample(inspector, threadId, start);
      if (!isMainThread) {
        follow(session, new Log(folder, threadId, 'running', start), folder, interval).unref();
        return;
      }
      const worker = new Worker(__filename, {
        workerData: { highwaterHeaps: { folder, interval, start } }, env: {}, execArgv: [], argv: [], stdin: false,
        resourceLimits: { maxYoungGenerationSizeMb: 2 },
      });
      worker.on('error', () => {});
      worker.unref();
    }
  } catch (error) {
    try { if (folder !== undefined) new Log(folder, 0, 'refused', 0).add('refused\n'); } catch (error) {}
  }
})();
