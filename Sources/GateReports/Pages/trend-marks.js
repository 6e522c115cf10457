// The trend page: what lies beneath the lines of a chart.

function marks(context, area, graph, metric, relative) {
  const {course} = open;
  const x = entry => graph.toDomXCoord(xOf(entry)), y = value => graph.toDomYCoord(value);
  const edge = entry => entry > 0 ? (x(entry - 1) + x(entry)) / 2 : x(entry);
  context.save();
  context.beginPath();
  context.rect(area.x, area.y, area.w, area.h);
  context.clip();
  context.font = "11px system-ui, sans-serif";
  stretches(metric.base, (first, last) => {
    const base = relative(metric.base[first], first), allowed = metric.allowed[first];
    const [left, right] = [edge(first), last + 1 < metric.base.length ? edge(last + 1) : area.x + area.w];
    if (base === null) return;
    if (allowed !== null) {
      const top = relative(metric.base[first] + allowed, first);
      context.fillStyle = color("tolerated");
      context.fillRect(left, y(top), right - left, y(base) - y(top));
    }
    line(context, color("green"), [], left, y(base), right, y(base));
  });
  stretches(metric.limit, (first, last) => {
    const limit = relative(metric.limit[first], first);
    if (limit !== null) line(context, color("red"), [2, 2], edge(first), y(limit), last + 1 < metric.limit.length ? edge(last + 1) : area.x + area.w, y(limit));
  });
  if (metric.creep !== null && metric.mid[metric.creep] !== null) {
    const end = metric.mid.findLastIndex(value => value !== null);
    const [a, b] = [relative(metric.mid[metric.creep], metric.creep), relative(metric.mid[end], end)];
    line(context, color("orange"), [6, 4], x(metric.creep), y(a), x(end), y(b));
    write(context, "↗ creeps from here on", "orange", x(metric.creep) + 2, area.y + 11, "left");
  }
  eventMarks(context, area, metric, relative, {x, y, edge});
  if (open.pin >= 0) line(context, color("text"), [1, 2], x(open.pin), area.y, x(open.pin), area.y + area.h);
  context.restore();
}

function eventMarks(context, area, metric, relative, {x, y, edge}) {
  let labelEnd = [-Infinity, -Infinity];
  for (const event of open.course.events) {
    const at = event.at, bottom = area.y + area.h;
    if (event.kind === "environment") line(context, color("quiet"), [1, 4], edge(at), area.y, edge(at), bottom);
    if (event.kind === "trouble") {
      write(context, "✕", "red", x(at), bottom - 4, "center");
      const width = context.measureText(event.label).width + 10;
      const isLeft = x(at) + width > area.x + area.w;
      if (x(at) > labelEnd[1]) write(context, event.label, "red", x(at) + (isLeft ? -7 : 7), bottom - 4, isLeft ? "right" : "left");
      labelEnd[1] = x(at) + width;
    }
    if (event.kind === "approval" && metric.base[at] !== null) {
      const level = relative(metric.base[at], at);
      if (level !== null) write(context, "◆", "green", x(at), y(level) + 4, "center");
    }
    if (event.kind.endsWith("step") && event.metric === metric.name) {
      const ink = event.kind === "step" ? "quiet" : "red";
      line(context, color(ink), event.kind === "step" ? [4, 3] : [], edge(at), area.y, edge(at), bottom);
      const text = (event.kind === "step" ? "△ " : "▲ ") + event.label.split(" (")[0];
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

/** The stretches of equal values. */
function stretches(values, work) {
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
