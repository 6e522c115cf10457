// A service with four workers and a heap for each. They keep the last CACHE documents, and LEAK bytes a request.
const fs = require("node:fs");
const http = require("node:http");
const { Worker, isMainThread, parentPort } = require("node:worker_threads");

if (isMainThread) serve([1, 2, 3, 4].map(() => new Worker(__filename)));
else work(Number(process.env.CACHE ?? 80), Number(process.env.LEAK ?? 0));

function serve(workers) {
  http.createServer(async (request, response) => {
    const sizes = await Promise.all(workers.map((worker) => ask(worker, request.url)));
    if (request.url === "/live-heap") report(`value live_heap ${sizes.reduce((a, b) => a + b, liveHeap())} B`);
    response.end();
  }).listen(18761, "127.0.0.1");
}

function ask(worker, question) {
  return new Promise((resolve) => {
    worker.once("message", resolve);
    worker.postMessage(question);
  });
}

function work(limit, leak) {
  const cache = new Map();
  const leaked = [];
  let next = 0;
  parentPort.on("message", (question) => {
    if (question === "/live-heap") return parentPort.postMessage(liveHeap());
    cache.set(next, render(next));
    cache.delete(next - limit);
    if (leak > 0) leaked.push(Buffer.alloc(leak / 4));
    next += 1;
    parentPort.postMessage(next);
  });
}

/** Returns 4 KiB, and makes ten times as much garbage. */
function render(number) {
  const rows = Array.from({ length: 100 }, (_, row) => ({ row, text: `document ${number}, row ${row}` }));
  return JSON.stringify(JSON.parse(JSON.stringify(rows)));
}

/** What this thread's collector cannot free, and the buffers outside of its heap. */
function liveHeap() {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Sends one line to Highwater, if it measures. */
function report(line) {
  if (process.env.HIGHWATER_MARKS) fs.writeFileSync(process.env.HIGHWATER_MARKS, line + "\n", { flag: "r+" });
}
