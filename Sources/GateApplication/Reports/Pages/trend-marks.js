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
  const start = metric.creepStart;
  if (start !== null && metric.median[start] !== null) {
    const end = metric.median.findLastIndex(value => value !== null);
    const [a, b] = [relative(metric.median[start], start), relative(metric.median[end], end)];
    line(context, color("orange"), [6, 4], x(start), y(a), x(end), y(b));
    write(context, "↗ creep starts here", "orange", x(start) + 2, area.y + 11, "left");
  }
  eventMarks(context, area, metric, relative, {x, y, edge});
  if (open.pin >= 0) line(context, color("text"), [1, 2], x(open.pin), area.y, x(open.pin), area.y + area.h);
  context.restore();
}

function eventMarks(context, area, metric, relative, {x, y, edge}) {
  let labelEnd = [-Infinity, -Infinity];
  for (const event of open.series.events) {
    const at = event.index, bottom = area.y + area.h;
    if (event.kind === "environment") line(context, color("quiet"), [1, 4], edge(at), area.y, edge(at), bottom);
    if (event.kind === "failure") {
      write(context, "✕", "red", x(at), bottom - 4, "center");
      const width = context.measureText(event.label).width + 10;
      const isLeft = x(at) + width > area.x + area.w;
      if (x(at) > labelEnd[1]) write(context, event.label, "red", x(at) + (isLeft ? -7 : 7), bottom - 4, isLeft ? "right" : "left");
      labelEnd[1] = x(at) + width;
    }
    if (event.kind === "approval" && metric.baseline[at] !== null) {
      const level = relative(metric.baseline[at], at);
      if (level !== null) write(context, "◆", "green", x(at), y(level) + 4, "center");
    }
    if (isShift(event) && event.metric === metric.name) {
      const ink = event.kind === "shift" ? "quiet" : "red";
      line(context, color(ink), event.kind === "shift" ? [4, 3] : [], edge(at), area.y, edge(at), bottom);
      const text = (event.kind === "shift" ? "△ " : "▲ ") + event.label.split(" (")[0];
      const width = context.measureText(text).width + 8;
      const isLeft = edge(at) + width > area.x + area.w;
      const start = isLeft ? edge(at) - width : edge(at);
      if (start > labelEnd[0]) {
        write(context, text, ink, edge(at) + (isLeft ? -4 : 4), area.y + 11, isLeft ? "right" : "left");
        labelEnd[0] = start + width;
      }
    }
  }
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
