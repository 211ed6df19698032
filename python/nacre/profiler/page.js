// The page of a profile: one function for each part, all from DATA.
"use strict";
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const number = (x) => x === undefined || x === null ? "–" : Math.abs(x) >= 1e5 || (x && Math.abs(x) < 1e-2) ? x.toExponential(3) : Number(x.toFixed(3)).toLocaleString("en");
const time = (ns) => ns === undefined ? "–" : ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : ns >= 1e3 ? (ns / 1e3).toFixed(3) + " µs" : ns + " ns";
function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
function cell(tag, text, name) { const made = document.createElement(tag); made.textContent = text; if (name) made.className = name; return made; }
const shown = (metric, value) => metric.endsWith("(ns)") ? time(value) : number(value);
function colour(name) { let hash = 0; for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0; return `hsl(${15 + hash % 45} 75% ${62 + hash % 16}%)`; }

const profile = DATA.profile, other = DATA.other, tree = profile.root ?? other?.root;
let zoom = tree;

// ---- Flame graph: a frame's width is its share of the metric; a click zooms in, one on the bottom frame out.

function drawFlame() {
  const metric = $("metric").value, svg = $("flame"), height = 20, width = 1200;
  svg.replaceChildren();
  const value = (node) => Math.max(node.total[metric] ?? 0, node.children.reduce((sum, child) => sum + value(child), 0), node.own[metric] ?? 0);
  let depth = 0;
  function draw(node, x, w, level) {
    if (w < 0.5) return;
    depth = Math.max(depth, level);
    const box = shape("rect", { x, y: level * height, width: w, height: height - 1, fill: colour(node.name), class: "frame", rx: 2 });
    box.append(shape("title", {}, `${node.name}: ${shown(metric, value(node))} (${(100 * value(node) / (value(tree) || 1)).toFixed(1)}%)` + (node.own.count ? `, ${node.own.count} launches` : "")));
    box.addEventListener("click", () => { zoom = node === zoom ? tree : node; drawFlame(); });
    svg.append(box);
    if (w > 40) svg.append(shape("text", { x: x + 4, y: level * height + 14 }, node.name.slice(0, Math.floor(w / 6.6))));
    const whole = value(node);
    let at = x;
    for (const child of node.children) { const part = whole ? w * value(child) / whole : 0; draw(child, at, part, level + 1); at += part; }
  }
  draw(zoom, 0, width, 0);
  svg.setAttribute("viewBox", `0 0 ${width} ${(depth + 1) * height + 2}`);
  $("path").textContent = zoom === tree ? "" : `${zoom.name} (click it again for all)`;
}

// ---- Table: frames by name, added up; a click on a column sorts.

function byName(root) {
  const rows = new Map();
  (function visit(node) {
    const row = rows.get(node.name) ?? { name: node.name, time: 0, count: 0, busy: 0, bytes: 0, flops: 0 };
    row.time += node.own["time (ns)"] ?? 0; row.count += node.own.count ?? 0; row.busy += node.own["busy (ns)"] ?? 0; row.bytes += node.own.bytes ?? 0;
    for (const width of ["", 8, 16, 32, 64]) row.flops += node.own["flops" + width] ?? 0;
    row.util = node.util ?? row.util; row.cpu = (row.cpu ?? 0) + (node.own["cpu_time (ns)"] ?? 0);
    rows.set(node.name, row);
    node.children.forEach(visit);
  })(root);
  rows.delete("ROOT");
  return [...rows.values()];
}
const COLUMNS = [["frame", (row) => row.name], ["time", (row) => row.time], ["launches", (row) => row.count], ["average", (row) => row.count ? row.time / row.count : 0],
  ["workers busy", (row) => row.time ? row.busy / row.time : 0], ["GB/s", (row) => row.time ? row.bytes / row.time : 0], ["GFLOP/s", (row) => row.time ? row.flops / row.time : 0],
  ["util", (row) => row.util ?? 0], ["host time", (row) => row.cpu ?? 0]];
let order = 1;
function drawTable() {
  const table = $("table");
  table.replaceChildren();
  const head = document.createElement("tr");
  COLUMNS.forEach(([name], i) => { const th = cell("th", name + (Math.abs(order) === i ? (order > 0 ? " ▾" : " ▴") : "")); th.addEventListener("click", () => { order = order === i ? -i : i; drawTable(); }); head.append(th); });
  table.append(head);
  const key = COLUMNS[Math.abs(order)][1];
  const rows = byName(tree).sort((a, b) => (key(a) < key(b) ? 1 : -1) * (order < 0 ? -1 : 1));
  for (const row of rows) {
    const tr = document.createElement("tr");
    COLUMNS.forEach(([name, get]) => {
      const value = get(row);
      tr.append(cell("td", typeof value === "string" ? value : !value ? "–" : ["time", "average", "host time"].includes(name) ? time(Math.round(value)) : name === "util" ? (100 * value).toFixed(1) + "%" : number(value)));
    });
    table.append(tr);
  }
}

// ---- Roofline: operations a byte against operations a second, under the device's two limits.

function drawRoofline() {
  const svg = $("roofline"), device = Object.values(Object.values(profile.devices ?? other?.devices ?? {})[0] ?? {})[0];
  const rows = byName(tree).filter((row) => row.time && row.bytes && row.flops);
  if (!device?.peak_gbps) { $("roofline-note").textContent = "the device's peaks are not in the file"; return; }
  const bandwidth = device.peak_gbps, peak = device.peak_flops32 / 1e9, knee = peak / bandwidth;
  const lowX = Math.log10(Math.min(0.01, ...rows.map((row) => row.flops / row.bytes))), highX = Math.log10(Math.max(knee * 10, ...rows.map((row) => row.flops / row.bytes)));
  const highY = Math.log10(peak * 2), lowY = Math.min(Math.log10(bandwidth) + lowX, ...rows.map((row) => Math.log10(row.flops / row.time))) - 0.3;
  const x = (v) => 50 + 450 * (Math.log10(v) - lowX) / (highX - lowX), y = (v) => 290 - 270 * (Math.log10(v) - lowY) / (highY - lowY);
  const line = (x1, y1, x2, y2) => svg.append(shape("line", { x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2), stroke: "currentColor" }));
  line(10 ** lowX, bandwidth * 10 ** lowX, knee, peak);
  line(knee, peak, 10 ** highX, peak);
  svg.append(shape("text", { x: 500, y: y(peak) - 8, "text-anchor": "end" }, `${number(peak)} GFLOP/s (fp32)`));
  svg.append(shape("text", { x: 54, y: y(bandwidth * 10 ** lowX) - 24 }, `${number(bandwidth)} GB/s`));
  for (let power = Math.ceil(lowX); power <= highX; power++) svg.append(shape("text", { x: x(10 ** power) - 8, y: 308 }, String(10 ** power)));
  svg.append(shape("text", { x: 400, y: 318 }, "operations a byte"));
  for (const row of rows) {
    const dot = shape("circle", { cx: x(row.flops / row.bytes), cy: y(row.flops / row.time), r: 5, fill: colour(row.name), stroke: "currentColor" });
    dot.append(shape("title", {}, `${row.name}: ${number(row.flops / row.time)} GFLOP/s at ${number(row.flops / row.bytes)} operations a byte`));
    const at = x(row.flops / row.bytes), isRight = at > 360;
    svg.append(dot, shape("text", { x: at + (isRight ? -9 : 9), y: y(row.flops / row.time) + 4, "text-anchor": isRight ? "end" : "start" }, row.name));
  }
  if (!rows.length) $("roofline-note").textContent = "no frame has time, bytes and flops";
}

// ---- Timeline: of a trace; a lane for each thread and worker, or for each warp of each program. The wheel zooms.

function drawTimeline(events) {
  const svg = $("timeline"), names = new Map(), lanes = new Map(), width = 1200;
  for (const event of events) if (event.ph === "M") names.set(event.tid, event.args.name);
  const isInside = (event) => typeof event.tid === "string", laneOf = (event) => isInside(event) ? `${event.pid} · ${event.tid}` : event.tid;
  const all = events.filter((event) => event.ph === "X" && event.cat !== "metric"), left = all.some(isInside) ? 330 : 130, mostLanes = 300;
  for (const event of all) if (!lanes.has(laneOf(event)) && lanes.size < mostLanes) lanes.set(laneOf(event), 0);
  const slices = all.filter((event) => lanes.has(laneOf(event)));
  if (slices.length < all.length) $("timeline-note").textContent = `the first ${mostLanes} lanes`;
  [...lanes.keys()].sort((a, b) => String(a).localeCompare(String(b), "en", { numeric: true })).forEach((lane, i) => lanes.set(lane, i));
  const full = [Math.min(...slices.map((event) => event.ts)), Math.max(...slices.map((event) => event.ts + event.dur))];
  let [from, to] = full;
  function draw() {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${lanes.size * 24 + 20}`);
    for (const [tid, i] of lanes) svg.append(shape("text", { x: 2, y: i * 24 + 16 }, names.get(tid) ?? (typeof tid === "string" ? tid : `thread ${tid}`)));
    for (const event of slices) {
      const x = left + (width - left) * (event.ts - from) / (to - from), w = Math.max(0.5, (width - left) * event.dur / (to - from));
      if (x + w < left || x > width) continue;
      const box = shape("rect", { x: Math.max(left, x), y: lanes.get(laneOf(event)) * 24 + 3, width: w, height: 18, fill: colour(event.name), class: "frame" });
      box.append(shape("title", {}, `${event.name}: ${time(event.dur * 1000)} from ${time(event.ts * 1000)} on`));
      svg.append(box);
    }
    svg.append(shape("text", { x: left, y: lanes.size * 24 + 14 }, `${time((from - full[0]) * 1000)} to ${time((to - full[0]) * 1000)}`));
  }
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = svg.getBoundingClientRect(), at = from + (to - from) * (event.clientX - box.left) / box.width, by = event.deltaY > 0 ? 1.25 : 0.8;
    from = Math.max(full[0], at - (at - from) * by); to = Math.min(full[1], at + (to - at) * by);
    draw();
  }, { passive: false });
  draw();
}

// ---- Samples by line: the kernels' own text, coloured by how often each line was found being executed.

function drawHeat(files) {
  const part = $("heat");
  for (const file of files) {
    const table = document.createElement("table"), most = Math.max(...file.lines.map((line) => line[2]));
    table.className = "source";
    for (const [number, text, count] of file.lines) {
      const row = document.createElement("tr"), share = 100 * count / file.total;
      row.append(cell("td", String(number)), cell("td", count ? String(count) : ""), cell("td", count ? share.toFixed(1) + "%" : ""), cell("td", text));
      if (count) row.style.background = `color-mix(in srgb, var(--hot) ${Math.round(8 + 62 * count / most)}%, transparent)`;
      table.append(row);
    }
    part.append(cell("div", `${file.file} · ${file.total} samples`, "soft"), table);
  }
}

// ---- Comparison: frame by frame, by name.

function drawComparison() {
  const before = new Map(byName(other.root).map((row) => [row.name, row])), table = $("compare"), head = document.createElement("tr");
  for (const text of ["frame", other.file, profile.file, "change"]) head.append(cell("th", text));
  table.append(head);
  for (const row of byName(profile.root).filter((row) => row.time).sort((a, b) => b.time - a.time)) {
    const old = before.get(row.name)?.time, tr = document.createElement("tr"), change = old ? (row.time - old) / old * 100 : null;
    tr.append(cell("td", row.name), cell("td", time(old)), cell("td", time(row.time)), cell("td", change === null ? "new" : (change > 0 ? "+" : "") + change.toFixed(1) + "%", change > 3 ? "worse" : change < -3 ? "better" : ""));
    table.append(tr);
  }
}

function start() {
  const device = Object.entries(profile.devices ?? {}).map(([type, all]) => `${type} ${Object.values(all)[0].arch}, ${Object.values(all)[0].num_sms} cores`).join("; ");
  $("facts").textContent = `${profile.file} · ${device}`;
  if (tree) {
    for (const name of (profile.inclusive ?? other.inclusive)) $("metric").append(new Option(name, name));
    $("metric").value = "time (ns)";
    $("metric").addEventListener("change", drawFlame);
    drawFlame(); drawTable(); drawRoofline();
  } else for (const id of ["flame-part", "table-part", "roofline-part"]) $(id).hidden = true;
  const events = profile.events ?? other?.events;
  if (events?.length) drawTimeline(events); else $("timeline-part").hidden = true;
  if (profile.heat?.length) drawHeat(profile.heat); else $("heat-part").hidden = true;
  if (profile.root && other?.root) drawComparison(); else $("compare-part").hidden = true;
}
start();
