// Four workers parse and group objects at the same time: each has a heap and a collector of its own.
const { Worker, isMainThread } = require("node:worker_threads");

if (isMainThread) {
  for (let number = 0; number < 4; number += 1) new Worker(__filename);
} else {
  const rows = Array.from({ length: 20000 }, (_, number) => ({ id: number, group: number % 97, name: `row ${number}` }));
  for (let round = 0; round < 3; round += 1) {
    const groups = new Map();
    for (const row of JSON.parse(JSON.stringify(rows))) {
      const group = groups.get(row.group) ?? [];
      group.push({ ...row, name: `${row.name} of ${round}` });
      groups.set(row.group, group);
    }
  }
}
