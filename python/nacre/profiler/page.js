// The page of a profile: one function for each part, all from DATA, drawn by D3.
const number = (x) => x === undefined || x === null ? "–"
  : Math.abs(x) >= 1e5 || (x && Math.abs(x) < 1e-2) ? x.toExponential(3) : Number(x.toFixed(3)).toLocaleString("en");
const shown = (metric, value) => metric.includes("(ns)") ? duration(value) : number(value);
const profile = DATA.profile, other = DATA.other, tree = profile.root ?? other?.root;
const pageWidth = () => Math.max(480, document.querySelector("main").clientWidth - 62);

// A name's colour: the same in every part.
const colour = d3.scaleOrdinal(d3.schemeTableau10.map((shade) => d3.interpolateRgb(shade, "#fff")(0.4)));

// ---- Flame graph: a frame's width is its share of the metric; a click zooms in, one on the lowest frame out.

const flame = { root: null, zoom: null, row: 20 };
function layFlame() {
  const metric = $("metric").value, path = flame.zoom?.ancestors().reverse().map((node) => node.data.name).slice(1) ?? [];
  const root = d3.hierarchy(tree);
  root.eachAfter((node) => { node.value = Math.max(node.data.total[metric] ?? 0, node.data.own[metric] ?? 0, d3.sum(node.children ?? [], (child) => child.value)); });
  flame.root = flame.zoom = d3.partition()(root);
  for (const name of path) flame.zoom = flame.zoom.children?.find((node) => node.data.name === name) ?? flame.zoom;
}
function drawFlame() {
  const { root, zoom, row } = flame, metric = $("metric").value, width = pageWidth(), least = +$("least").value / 100;
  const x = d3.scaleLinear([zoom.x0, zoom.x1], [0, width]);
  // Frames too narrow to be seen are not drawn: a large profile has as many as there are pixels at most.
  const frames = zoom.descendants().filter((node) => x(node.x1) - x(node.x0) >= 0.5 && node.value >= least * (root.value || 1));
  const sought = $("find").value.toLowerCase(), isFound = (node) => sought && node.data.name.toLowerCase().includes(sought);
  $("found").textContent = sought ? `${root.descendants().filter(isFound).length} frames` : "";
  $("least-text").textContent = $("least").value + "%";
  $("path").textContent = zoom === root ? "" : zoom.ancestors().reverse().map((node) => node.data.name).join(" › ");
  const svg = d3.select("#flame").attr("width", width).attr("height", (d3.max(frames, (node) => node.depth - zoom.depth) + 1) * row + 2);
  const groups = svg.selectAll("g").data(frames, (node) => node.ancestors().map((each) => each.data.name).join("\n"))
    .join((enter) => { const group = enter.append("g"); group.append("rect"); group.append("text"); return group; }).order();
  groups.attr("transform", (node) => `translate(${x(node.x0)},${(node.depth - zoom.depth) * row})`);
  groups.select("rect").attr("class", (node) => "frame" + (isFound(node) ? " found" : "")).attr("rx", 2).attr("height", row - 1).attr("tabindex", (node) => node === zoom ? 0 : -1)
    .attr("role", "treeitem").attr("width", (node) => Math.max(0.5, x(node.x1) - x(node.x0))).attr("fill", (node) => colour(node.data.name))
    .attr("aria-label", (node) => describe(node, metric)).on("click", (node) => zoomTo(node === flame.zoom ? node.parent ?? node : node)).on("keydown", moveInFlame)
    .on("mousemove", (node) => tip(d3.event, describe(node, metric))).on("mouseleave", () => tip(d3.event, ""));
  groups.select("text").attr("x", 4).attr("y", 14)
    .text((node) => { const room = Math.floor((x(node.x1) - x(node.x0) - 6) / 6.6); return room > 4 ? node.data.name.slice(0, room) : ""; });
}
function describe(node, metric) {
  const own = node.data.own;
  return `${node.data.name}: ${shown(metric, node.value)} (${percent(node.value, flame.root.value)})` + (own.count ? `, ${own.count} launches` : "") + (own.config ? `\n${own.config}` : "") + (own.source ? `\n${own.source}` : "")
    + (own.moved ? `\nnot measured here: ${own.moved}` : "");
}
function zoomTo(node) { flame.zoom = node; drawFlame(); focusFrame(node); }
function focusFrame(node) { d3.selectAll("#flame rect").filter((each) => each === node).each(function () { this.focus({ preventScroll: true }); }); }
function moveInFlame(node) {
  const among = node.parent?.children ?? [node], at = among.indexOf(node);
  const to = { ArrowDown: node.children?.[0], ArrowUp: node.parent, ArrowRight: among[at + 1], ArrowLeft: among[at - 1] }[d3.event.key];
  if (to) { d3.event.preventDefault(); if (to.depth < flame.zoom.depth) zoomTo(to); else focusFrame(to); }
  if (d3.event.key === "Enter") zoomTo(node);
  if (d3.event.key === "Escape") zoomTo(flame.root);
}

// ---- Table: frames by name, added up; a click on a column sorts.

function byName(root) {
  const rows = new Map();
  d3.hierarchy(root).each((place) => {
    const node = place.data, row = rows.get(node.name) ?? { name: node.name, total: 0, time: 0, count: 0, busy: 0, bytes: 0, flops: 0, cpu: 0, least: 0, measured: 0, kind: "", source: "" };
    if (node.own.num_samples) return; // a line: shown with the source
    if (!place.ancestors().slice(1).some((each) => each.data.name === node.name)) row.total += node.total["time (ns)"] ?? node.own["time (ns)"] ?? 0;
    row.kind ||= node.kind; row.source ||= node.own.source;
    row.time += node.own["time (ns)"] ?? 0; row.count += node.own.count ?? 0; row.busy += node.own["busy (ns)"] ?? 0;
    row.bytes += node.own.bytes ?? 0; row.cpu += node.own["cpu_time (ns)"] ?? 0;
    for (const width of ["", 8, 16, 32, 64]) row.flops += node.own["flops" + width] ?? 0;
    if (node.least) { row.least += node.least[0]; row.measured += node.least[1]; }
    rows.set(node.name, row);
  });
  rows.delete("ROOT");
  for (const row of rows.values()) row.util = row.measured ? row.least / row.measured : 0;
  return [...rows.values()];
}
// Which rows are wanted: all, kernels alone, operators of torch and kernels of libraries alone. The table and the roofline share the choice.
const isWanted = (row) => { const only = document.querySelector(".only").value; return only === "all" || row.kind === only; };
function chooseOnly(only) {
  for (const select of document.querySelectorAll(".only")) select.value = only;
  drawTable(); drawRoofline();
}
const per = (what) => (row) => row.time ? row[what] / row.time : 0;
const COLUMNS = [
  { name: "frame", get: (row) => row.name, text: String }, { name: "time", get: (row) => row.time, text: duration }, { name: "with what is below", get: (row) => row.total, text: duration }, { name: "launches", get: (row) => row.count, text: number },
  { name: "average", get: (row) => row.count ? row.time / row.count : 0, text: (value) => duration(Math.round(value)) }, { name: "workers busy", get: per("busy"), text: number },
  { name: "GB/s", get: per("bytes"), text: number }, { name: "GFLOP/s", get: per("flops"), text: number },
  { name: "util", get: (row) => row.util, text: (value) => (100 * value).toFixed(1) + "%" + (value > 1 || profile.doubtful ? " ?" : "") }, { name: "host time", get: (row) => row.cpu, text: duration },
  { name: "written at", get: (row) => row.source, text: (value) => value.split(/[\\/]/).pop(), title: String },
];
const columns = () => byName(tree).some((row) => row.source) ? COLUMNS : COLUMNS.slice(0, -1);
const DOUBT = "? A share of the device's peaks, which were measured while the machine was busy: the true shares are smaller.";
const order = { column: 1, falls: true };
function drawTable() {
  const table = d3.select("#table"), { get } = COLUMNS[order.column], compare = order.falls ? d3.descending : d3.ascending;
  table.selectAll("thead").data([0]).join("thead").selectAll("tr").data([0]).join("tr").selectAll("th").data(columns())
    .join((enter) => { const head = enter.append("th"); head.append("button"); return head; })
    .attr("aria-sort", (column, i) => i !== order.column ? "none" : order.falls ? "descending" : "ascending")
    .select("button").text((column, i) => column.name + (i !== order.column ? "" : order.falls ? " ▾" : " ▴"))
    .on("click", (column, i) => { order.falls = order.column === i ? !order.falls : i > 0; order.column = i; drawTable(); });
  $("table-note").textContent = byName(tree).some((row) => row.util > 1 || (row.util && profile.doubtful)) ? DOUBT : "";
  const rows = byName(tree).filter(isWanted).sort((a, b) => compare(get(a), get(b)) || d3.descending(a.total, b.total) || d3.ascending(a.name, b.name));
  table.selectAll("tbody").data([0]).join("tbody").selectAll("tr").data(rows, (row) => row.name).join("tr").order()
    .selectAll("td").data((row) => columns().map(({ get, text, title }) => { const value = get(row); return value ? [text(value), (title ?? text)(value)] : ["–", ""]; }))
    .join("td").text(([text]) => text).attr("title", ([, title]) => title);
}

// ---- Timeline: of a trace; a lane for each thread, worker and stream, or for each warp of each program.

function drawTimeline(trace) {
  const canvas = $("timeline"), width = pageWidth(), row = 22, left = Math.min(360, 24 + d3.max(trace.lanes, (lane) => lane.length) * 6.6), height = trace.lanes.length * row;
  const NAME = 0, LANE = 1, BEGIN = 2, LENGTH = 3;
  const length = (time) => trace.unit === "cycles" ? `${number(time)} cycles` : duration(time);
  if (trace.left_out) $("timeline-note").textContent = `${trace.left_out} of its shortest slices are left out`;
  const lanes = trace.lanes.map((_, i) => trace.slices.filter((slice) => slice[LANE] === i));
  const depths = lanes.map(nest), longest = lanes.map((slices) => d3.max(slices, (slice) => slice[LENGTH]) ?? 0);
  const first = d3.min(trace.slices, (slice) => slice[BEGIN]), last = d3.max(trace.slices, (slice) => slice[BEGIN] + slice[LENGTH]);
  const full = d3.scaleLinear([first, Math.max(last, first + 1)], [left, width]);
  let x = full;
  const context = sharp(canvas, width, height);
  function draw() {
    let drawn = 0;
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    lanes.forEach((slices, i) => {
      const [from, to] = x.domain(), top = i * row + 2;
      let end = -1; // of what is drawn: slices that would fall on the same pixel are drawn once
      for (let k = d3.bisector((slice) => slice[BEGIN]).left(slices, from - longest[i]); k < slices.length && slices[k][BEGIN] < to; k++) {
        const slice = slices[k], begin = Math.max(left, x(slice[BEGIN])), stop = Math.min(width, x(slice[BEGIN] + slice[LENGTH])), depth = depths[i][k];
        if (stop < left || (depth === 0 && stop - begin < 1 && begin < end)) continue;
        if (depth === 0) end = Math.max(end, begin + 1);
        const name = trace.names[slice[NAME]], inset = Math.min(depth, 4) * 3, wide = Math.max(1, stop - begin);
        context.fillStyle = colour(name);
        context.fillRect(begin, top + inset, wide > 3 ? wide - 0.5 : wide, row - 4 - inset);
        if (wide > 50 && !(depths[i][k + 1] > depth)) { context.fillStyle = "#1c2430"; context.fillText(name.slice(0, Math.floor((wide - 8) / 6.6)), begin + 4, top + inset + 12); }
        drawn++;
      }
      context.clearRect(0, i * row, left, row);
      context.fillStyle = theme("--ink");
      context.fillText(trace.lanes[i].slice(0, Math.floor(left / 6.2)), 2, top + 13);
    });
    canvas.dataset.drawn = drawn;
    const axis = d3.axisBottom(x.copy().domain(x.domain().map((time) => time - first))).ticks(8).tickFormat(length);
    d3.select("#timeline-axis").attr("width", width).attr("height", 24).selectAll("g").data([0]).join("g").attr("class", "axis").call(axis)
      .selectAll(".tick text").attr("text-anchor", (time) => x(time + first) > width - 32 ? "end" : "middle");
  }
  const zoom = d3.zoom().scaleExtent([1, (last - first) / 2 + 1]).extent([[left, 0], [width, height]]).translateExtent([[left, 0], [width, height]])
    .on("zoom", () => { x = d3.event.transform.rescaleX(full); draw(); });
  const target = d3.select(canvas).call(zoom);
  target.on("keydown", () => {
    const key = d3.event.key, by = { "+": 1.5, "=": 1.5, "-": 1 / 1.5 }[key], shift = { ArrowLeft: 1, ArrowRight: -1 }[key];
    if (by) target.call(zoom.scaleBy, by);
    if (shift) target.call(zoom.translateBy, shift * (width - left) / 8 / d3.zoomTransform(canvas).k, 0);
    if (key === "Escape") target.call(zoom.transform, d3.zoomIdentity);
    if (by || shift) d3.event.preventDefault();
  });
  target.on("mousemove", () => {
    const [px, py] = d3.mouse(canvas), i = Math.floor(py / row), time = x.invert(px);
    const under = px < left ? null : (lanes[i] ?? []).filter((slice) => slice[BEGIN] <= time + (x.invert(1) - x.invert(0)) && slice[BEGIN] + slice[LENGTH] >= time).pop();
    tip(d3.event, under ? `${trace.names[under[NAME]]}: ${length(under[LENGTH])} from ${length(under[BEGIN] - first)} on` : "");
  }).on("mouseleave", () => tip(d3.event, ""));
  draw();
}
// How deep each slice of a lane, sorted by its begin, lies in others.
function nest(slices) {
  const open = [];
  return slices.map(([, , begin, length]) => {
    while (open.length && open[open.length - 1] <= begin) open.pop();
    open.push(begin + length);
    return open.length - 1;
  });
}

// ---- Samples by line: the kernels' own text, coloured by how often each line was found being executed.

function drawHeat(files) {
  const parts = d3.select("#heat").selectAll("div").data(files).join("div");
  parts.append("div").attr("class", "soft").text((file) => `${file.file} · ${file.total} samples`);
  const lines = parts.append("table").attr("class", "source").selectAll("tr")
    .data((file) => { const width = d3.scaleLinear([0, d3.max(file.lines, (line) => line[2])], [0, 110]); return file.lines.map((line) => ({ line, total: file.total, width: width(line[2]) })); }).join("tr");
  lines.append("td").text(({ line }) => line[0]);
  lines.append("td").text(({ line }) => line[2] || "");
  lines.append("td").text(({ line, total }) => line[2] ? percent(line[2], total) : "");
  lines.append("td").append("span").attr("class", "bar").style("width", ({ width }) => width + "px");
  lines.append("td").text(({ line }) => line[1]);
  lines.filter(({ line }) => line[2]).style("background", ({ width }) => `color-mix(in srgb, var(--hot) ${Math.round(6 + width * 0.4)}%, transparent)`)
    .attr("title", ({ line }) => line[3] ? Object.entries(line[3]).map(([why, count]) => `${why}: ${count}`).join("\n") : null);
}

// ---- Comparison: frame by frame, by name.

function drawComparison() {
  const before = new Map(byName(other.root).map((row) => [row.name, row])), table = d3.select("#compare");
  table.append("tr").selectAll("th").data(["frame", other.file, profile.file, "change"]).join("th").text((text) => text);
  const rows = byName(profile.root).filter((row) => row.time).sort((a, b) => d3.descending(a.time, b.time));
  for (const row of rows) {
    const old = before.get(row.name)?.time, change = old ? (row.time - old) / old * 100 : null;
    const line = table.append("tr");
    line.selectAll("td").data([row.name, duration(old), duration(row.time), change === null ? "new" : d3.format("+.1f")(change) + "%"]).join("td").text((text) => text.replace("−", "-"));
    line.select("td:last-child").attr("class", change > 3 ? "worse" : change < -3 ? "better" : "");
  }
}

function start() {
  const device = Object.entries(profile.devices ?? {}).map(([type, all]) => `${type} ${Object.values(all)[0].arch}, ${Object.values(all)[0].num_sms} cores`).join("; ");
  $("facts").textContent = device ? `${profile.file} · ${device}` : profile.file;
  if (tree) {
    const metrics = profile.inclusive ?? other.inclusive;
    for (const name of metrics) $("metric").append(new Option(name, name));
    $("metric").value = metrics.includes("time (ns)") ? "time (ns)" : metrics[0] ?? "";
    layFlame();
    $("metric").addEventListener("change", () => { layFlame(); drawFlame(); });
    for (const id of ["least", "find"]) $(id).addEventListener("input", drawFlame);
    const hasOperators = byName(tree).some((row) => row.kind === "operator");
    for (const select of document.querySelectorAll(".only")) { select.closest("label").hidden = !hasOperators; select.addEventListener("change", () => chooseOnly(select.value)); }
    addEventListener("resize", () => { drawFlame(); drawRoofline(); });
    drawFlame(); drawTable(); drawRoofline();
  } else for (const id of ["flame-part", "table-part", "roofline-part"]) $(id).hidden = true;
  const trace = profile.trace ?? other?.trace;
  if (trace?.slices.length) drawTimeline(trace); else $("timeline-part").hidden = true;
  if (profile.heat?.length) drawHeat(profile.heat); else $("heat-part").hidden = true;
  if (profile.root && other?.root) drawComparison(); else $("compare-part").hidden = true;
}
start();
