// Parses, groups and sorts objects for several rounds: produces much garbage and code worth compiling.
const rows = Array.from({ length: 20000 }, (_, number) => ({ id: number, group: number % 97, name: `row ${number}` }));
let sum = 0;
for (let round = 0; round < 10; round += 1) {
  const groups = new Map();
  for (const row of JSON.parse(JSON.stringify(rows))) {
    const group = groups.get(row.group) ?? [];
    group.push({ ...row, name: `${row.name} of ${round}` });
    groups.set(row.group, group);
  }
  for (const group of groups.values()) group.sort((one, other) => (one.name < other.name ? -1 : 1));
  sum += groups.size;
}
// Idle at the end, so that there is a steady level.
setTimeout(() => console.log(sum), 400);
