// The trend page: what is drawn beneath the lines of a chart.

function marks(context, area, graph, metric, relative) {
  const x = index => graph.toDomXCoord(xOf(index)), y = value => graph.toDomYCoord(value);
  const edge = index => index > 0 ? (x(index - 1) + x(index)) / 2 : x(index);
  context.save();
  context.beginPath();
  context.rect(area.x, area.y, area.w, area.h);
  context.clip();
  context.font = "11px system-ui, sans-serif";
  segments(metric.baseline, (first, last) => {
    const baseline = relative(metric.baseline[first], first), allowed = metric.allowed[first];
    const [left, right] = [edge(first), last + 1 < metric.baseline.length ? edge(last + 1) : area.x + area.w];
    if (baseline === null) return;
    if (allowed !== null) {
      const top = relative(metric.baseline[first] + allowed, first);
      context.fillStyle = color("tolerated");
      context.fillRect(left, y(top), right - left, y(baseline) - y(top));
    }
    line(context, color("green"), [], left, y(baseline), right, y(baseline));
  });
  segments(metric.limit, (first, last) => {
    const limit = relative(metric.limit[first], first);
    if (limit !== null) line(context, color("red"), [2, 2], edge(first), y(limit), last + 1 < metric.limit.length ? edge(last + 1) : area.x + area.w, y(limit));
  });
  const label = labels(context, area, [11, 24, 37].map(height => area.y + height));
  const start = metric.creepStart;
  if (start !== null && metric.median[start] !== null) {
    const end = metric.median.findLastIndex(value => value !== null);
    const [a, b] = [relative(metric.median[start], start), relative(metric.median[end], end)];
    line(context, color("orange"), [6, 4], x(start), y(a), x(end), y(b));
    label("↗ creep starts here", "orange", x(start));
  }
  eventMarks(context, area, metric, relative, {x, y, edge}, label);
  if (open.pin >= 0) line(context, color("text"), [1, 2], x(open.pin), area.y, x(open.pin), area.y + area.h);
  context.restore();
}

function eventMarks(context, area, metric, relative, {x, y, edge}, label) {
  const bottom = area.y + area.h, {events} = open.series;
  const shifts = events.filter(event => isShift(event) && event.metric === metric.name);
  const failures = events.filter(event => event.kind === "failure");
  for (const {kind, index} of events) {
    const level = kind === "approval" && metric.baseline[index] !== null ? relative(metric.baseline[index], index) : null;
    if (kind === "environment") line(context, color("quiet"), [1, 4], edge(index), area.y, edge(index), bottom);
    if (level !== null) write(context, "◆", "green", x(index), y(level) + 4, "center");
  }
  for (const {kind, index} of shifts)
    line(context, color(kind === "shift" ? "quiet" : "red"), kind === "shift" ? [4, 3] : [], edge(index), area.y, edge(index), bottom);
  for (const index of open.series.aside) write(context, "○", "quiet", x(index), bottom - 4, "center");
  for (const {index} of failures) write(context, "✕", "red", x(index), bottom - 4, "center");
  // Labels are above all lines; those of unexplained rises get space first.
  for (const {kind, index, label: text} of shifts.toSorted((a, b) => (a.kind === "shift") - (b.kind === "shift")))
    label(`${kind === "shift" ? "△" : "▲"} ${text.split(" (")[0]}`, kind === "shift" ? "quiet" : "red", edge(index));
  const ofFailure = labels(context, area, [bottom - 4], failures.map(({index}) => ({start: x(index) - 6, end: x(index) + 6})));
  for (const {index, label: text} of failures) ofFailure(text, "red", x(index), 7);
}

/** Returns a function that writes a label beside a position, in the first of these lines in which it overlaps no other, if any. */
function labels(context, area, heights, taken = []) {
  const rows = heights.map(() => [...taken]);
  return (text, ink, x, gap = 4) => {
    if (x < area.x || x > area.x + area.w) return;
    const width = context.measureText(text).width + gap;
    const isLeft = x + width > area.x + area.w;
    const [start, end] = isLeft ? [x - width, x - gap] : [x + gap, x + width];
    const row = rows.findIndex(row => row.every(other => end < other.start || start > other.end));
    if (row < 0) return;
    rows[row].push({start, end});
    context.fillStyle = color("ground");
    context.fillRect(start - 1, heights[row] - 10, end - start + 2, 13);
    write(context, text, ink, x + (isLeft ? -gap : gap), heights[row], isLeft ? "right" : "left");
  };
}

/** Calls `work` with the first and the last index of each run of equal values. */
function segments(values, work) {
  for (let first = 0, i = 1; i <= values.length; i++)
    if (i === values.length || values[i] !== values[first]) {
      if (values[first] !== null) work(first, i - 1);
      first = i;
    }
}
function line(context, ink, dashes, x1, y1, x2, y2) {
  context.strokeStyle = ink;
  context.lineWidth = 1.25;
  context.setLineDash(dashes);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  context.setLineDash([]);
}
function write(context, text, ink, x, y, side) {
  context.textAlign = side;
  context.lineWidth = 3;
  context.strokeStyle = color("ground");
  context.strokeText(text, x, y);
  context.fillStyle = color(ink);
  context.fillText(text, x, y);
}
