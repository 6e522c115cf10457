// A small service that renders a page for each request, and keeps LEAK bytes of each.
const http = require("node:http");

const leak = Number(process.env.LEAK ?? 0);
const links = Array.from({ length: 2000 }, (_, at) => [`/${at}`, `https://example.org/${at}/${"x".repeat(60)}`]);
const kept = [];

http.createServer((request, response) => {
  if (leak > 0) kept.push(new Array(leak / 8).fill(kept.length));
  const rows = links.slice(0, 200).map(([from, to]) => `<li><a href="${from}">${to}</a>`);
  response.end(`<html><ul>${rows.join("")}</ul></html>`);
}).listen(Number(process.env.PORT), "127.0.0.1");
