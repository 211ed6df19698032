// The page of launches: state at the top, one function for each part of the page, everything drawn from DATA.
const state = { launch: 0, program: 0, op: 0, value: 0, timer: null };
const launch = () => DATA.launches[state.launch];
const number = (x) => Number.isInteger(x) ? x.toLocaleString("en") : Number(x).toPrecision(4);
const element = (tag, text, name) => { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; if (name) made.className = name; return made; };
const READS = 2, WRITES = 1;

// Runs [first, step, count, ...] as single numbers.
function expand(runs) {
  const out = [];
  for (let i = 0; i < runs.length; i += 3) for (let k = 0; k < runs[i + 2]; k++) out.push(runs[i] + k * runs[i + 1]);
  return out;
}

function cached(key, make) {
  const owner = launch();
  owner.cache ??= {};
  return owner.cache[key] ??= make();
}
const valuesOf = (program) => cached("values" + program, () => launch().values.filter((value) => value.program === program));
const accessesOf = (program) => cached("program" + program, () => launch().accesses.filter((access) => access.program === program));
function place(program) { const [x, y] = launch().grid; return [program % x, Math.floor(program / x) % y, Math.floor(program / x / y)]; }
function programAt([x, y, z]) { const grid = launch().grid; return x + grid[0] * (y + grid[1] * z); }
function findingsOf(program) { return launch().findings.filter((finding) => programAt(finding.program) === program); }

// ---- The grid as a map

function gridShape() {
  const [x, y, z] = launch().grid;
  if (y * z > 1) return [x, y * z];
  const columns = Math.min(x, Math.max(32, Math.ceil(Math.sqrt(x))));
  return [columns, Math.ceil(x / columns)];
}
const COLOURS = { // of programs: what it is of a program, and how it is written
  bytes: { of: (row) => row[0] + row[1], text: (value) => `${number(value)} bytes` },
  masked: { of: (row) => row[2] - row[3], text: (value) => `${number(value)} lanes` },
  time: { of: (row) => row[4] ?? 0, text: duration },
  errors: { of: (row, program) => findingsOf(program).length, text: (value) => `${value} findings` },
};
function gridValue(program) {
  const row = launch().programs[program];
  return row ? COLOURS[$("colour").value].of(row, program) : 0;
}
function drawGrid() {
  const canvas = $("grid"), [columns, rows] = gridShape(), count = launch().programs.length, kind = $("colour").value;
  const size = Math.max(2, Math.min(26, Math.floor(560 / columns), Math.floor(420 / rows)));
  const context = sharp(canvas, columns * size, rows * size), most = d3.max(d3.range(count), gridValue) || 0;
  const shade = kind === "errors" ? d3.scaleThreshold([1], [heat(0), "#c1121f"]) : heat.copy().domain([-0.08 * (most || 1), most || 1]);
  canvas.size = size;
  for (let i = 0; i < count; i++) {
    context.fillStyle = shade(gridValue(i));
    context.fillRect((i % columns) * size, Math.floor(i / columns) * size, size > 4 ? size - 1 : size, size > 4 ? size - 1 : size);
  }
  context.strokeStyle = theme("--write"); context.lineWidth = 2;
  context.strokeRect((state.program % columns) * size + 1, Math.floor(state.program / columns) * size + 1, Math.max(2, size - 3), Math.max(2, size - 3));
  drawLegend(kind === "errors" ? null : shade, most, COLOURS[kind].text);
  const row = launch().programs[state.program] ?? [0, 0, 0, 0];
  $("program").textContent = `program (${place(state.program)}): ${number(row[0])} bytes loaded, ${number(row[1])} stored, ${percent(row[2] - row[3], row[2])} of its lanes masked off` +
    (row[4] ? `, ${duration(row[4])} while watched` : "") + (state.program % launch().step ? `; its accesses are not kept (every ${launch().step}th program's are)` : "");
}
// The colours' scale below the grid, from 0 to the most.
function drawLegend(shade, most, text) {
  const width = 260, steps = 52, svg = d3.select("#legend").attr("width", width + 100).attr("height", shade ? 36 : 0);
  svg.selectAll("rect").data(shade ? d3.range(steps) : []).join("rect").attr("x", (i) => 30 + i * width / steps).attr("y", 4).attr("width", width / steps + 0.5).attr("height", 10).attr("fill", (i) => shade(i / (steps - 1) * most));
  const axis = d3.axisBottom(d3.scaleLinear([0, most || 1], [30, width + 30])).tickValues([0, most]).tickFormat(text);
  svg.selectAll("g").data(shade ? [0] : []).join("g").attr("class", "axis").attr("transform", "translate(0,14)").call((group) => shade && group.call(axis));
}
function programUnder(event) {
  const canvas = $("grid"), [columns] = gridShape(), [x, y] = d3.clientPoint(canvas, event).map((at) => Math.floor(at / canvas.size));
  const program = y * columns + x;
  return x < columns && program < launch().programs.length ? program : -1;
}
function drawAxes() {
  const box = $("axes");
  box.replaceChildren();
  launch().grid.forEach((extent, axis) => {
    if (extent === 1 && axis > 0) return;
    const label = element("label", "xyz"[axis] + " "), slider = element("input");
    slider.type = "range"; slider.min = 0; slider.max = extent - 1; slider.value = place(state.program)[axis]; slider.dataset.axis = axis;
    slider.addEventListener("input", () => { const at = place(state.program); at[axis] = +slider.value; choose(programAt(at)); });
    label.append(slider); box.append(label);
  });
}

// ---- The operations of a program, and the arrays they touch

function drawOperations() {
  const box = $("ops"), all = accessesOf(state.program);
  box.replaceChildren();
  all.slice(0, 400).forEach((access, i) => {
    const button = element("button", `${i + 1} ${access.name} ${access.array >= 0 ? launch().arrays[access.array].name : "?"}`, i === state.op ? "now" : "");
    button.addEventListener("click", () => { state.op = i; drawProgram(); });
    box.append(button);
  });
  if (all.length > 400) box.append(element("span", `and ${all.length - 400} more`, "soft"));
  const access = all[state.op];
  if (!access) { $("op").textContent = "nothing is kept of it"; return; }
  const site = launch().sites[access.site], lanes = access.shape.reduce((a, b) => a * b, 1), enabled = access.elements ? expand(access.elements).length : 0;
  const lines = new Set((access.elements ? expand(access.elements) : []).map((at) => Math.floor(at * access.size / 64)));
  $("op").textContent = `${access.name} of a ${access.shape.length ? access.shape.join(" × ") + " tile" : "scalar"}, ${access.size} bytes each, line ${site.line}: ` +
    `${enabled} of ${lanes} lanes, ${enabled * access.size} bytes wanted in ${lines.size} cache lines (${percent(enabled * access.size, lines.size * 64)} of them used)`;
}
// ---- The tiles that operations gave

const roleOf = (value, i) => {
  const last = i === value.tiles.length - 1;
  if (value.name === "dot" && value.tiles.length === 3) return ["left", "right", "result"][i];
  return value.tiles.length > 1 ? (last ? "result" : "operand") : "result";
};
function drawTile(tile, role) {
  const shape = tile.shape.length ? tile.shape : [1], columns = shape[shape.length - 1], rows = Math.ceil(tile.first.length / columns);
  const box = element("div", undefined, "tile"), table = element("table");
  const [low, high] = d3.extent(tile.first.filter(Number.isFinite));
  box.append(element("div", `${role}: ${tile.shape.length ? tile.shape.join(" × ") : "scalar"}` + (tile.first.length < shape.reduce((a, b) => a * b, 1) ? `, the first ${tile.first.length} shown` : ""), "soft"));
  for (let r = 0; r < rows; r++) {
    const row = element("tr");
    for (let c = 0; c < Math.min(columns, 64) && r * columns + c < tile.first.length; c++) {
      const value = tile.first[r * columns + c], cell = element("td", Number.isFinite(value) ? number(value) : String(value)), at = high > low ? (value - low) / (high - low) : 0;
      if (Number.isFinite(value)) { cell.style.background = heat(at); cell.className = at > 0.5 ? "dark" : ""; if (at <= 0.5) cell.style.color = "#1c2430"; }
      row.append(cell);
    }
    table.append(row);
  }
  box.append(table);
  return box;
}
function drawValues() {
  const box = $("values"), all = valuesOf(state.program);
  box.replaceChildren();
  all.slice(0, 400).forEach((value, i) => {
    const button = element("button", `${value.line}: ${value.name}`, i === state.value ? "now" : "");
    button.addEventListener("click", () => { state.value = i; drawValues(); });
    box.append(button);
  });
  if (all.length > 400) box.append(element("span", `and ${all.length - 400} more`, "soft"));
  const value = all[state.value];
  $("value-of").textContent = value ? `line ${value.line}: ${(launch().source[value.line - launch().first_line] ?? "").trim()}` : "nothing is kept of them";
  $("tiles").replaceChildren(...(value ? value.tiles.map((tile, i) => drawTile(tile, roleOf(value, i))) : []));
}

// ---- What a simulated GPU did

// "[16, 32] register b1 a8 lane b2 ...": for each element its (warp, lane, register), row-major, the first holder of each.
function holders(text) {
  const [, extents, rest] = text.match(/^\[([^\]]*)\]\s*(.*)$/), shape = extents.split(",").map(Number), places = {};
  let now = null;
  for (const word of rest.split(/\s+/)) {
    if (/^[a-z]+$/.test(word)) places[now = word] = [];
    else if (now) places[now].push(word === "0" ? [] : word.split("+").map((part) => [part.charCodeAt(0) - 97, +part.slice(1)]));
  }
  const count = (name) => 1 << (places[name] ?? []).length, owner = new Array(shape.reduce((a, b) => a * b, 1));
  for (let warp = 0; warp < count("warp"); warp++) for (let lane = 0; lane < count("lane"); lane++) for (let register = 0; register < count("register"); register++) {
    const at = shape.map(() => 0);
    for (const [name, index] of [["warp", warp], ["lane", lane], ["register", register]])
      (places[name] ?? []).forEach((basis, bit) => { if (index >> bit & 1) for (const [axis, step] of basis) at[axis] ^= step; });
    const flat = at.reduce((sum, i, axis) => sum * shape[axis] + i, 0);
    owner[flat] ??= [warp, lane, register];
  }
  return { shape, owner };
}
function drawLayout() {
  const layouts = launch().gpu?.layouts ?? [], layout = layouts[+$("layout").value], canvas = $("layout-map");
  $("layout").closest(".row").style.display = layouts.length ? "" : "none";
  $("layout-text").textContent = layout ? `${layout.text}; of ${layout.used_by.join(", ")}` : "";
  sharp(canvas, 0, 0);
  if (!layout) return;
  const { shape, owner } = holders(layout.text), columns = shape[shape.length - 1], rows = Math.min(256, owner.length / columns), wide = Math.min(columns, 1024);
  const size = Math.max(2, Math.min(18, Math.floor(1100 / wide), Math.floor(420 / rows))), context = sharp(canvas, wide * size, rows * size);
  const lanes = d3.scaleLinear([0, 31], [0.25, 0.85]);
  for (let r = 0; r < rows; r++) for (let c = 0; c < wide; c++) {
    const holder = owner[r * columns + c];
    if (!holder) continue;
    context.fillStyle = d3.interpolateRgb(d3.schemeTableau10[holder[0] % 10], "#fff")(1 - lanes(holder[1]));
    context.fillRect(c * size, r * size, size > 3 ? size - 1 : size, size > 3 ? size - 1 : size);
  }
  canvas.onmousemove = (event) => {
    const [c, r] = d3.clientPoint(canvas, event).map((at) => Math.floor(at / size));
    const holder = r >= 0 && r < rows && c >= 0 && c < wide ? owner[r * columns + c] : null;
    tip(event, holder ? `element (${shape.length > 1 ? r + ", " : ""}${c}): warp ${holder[0]}, lane ${holder[1]}, register ${holder[2]}` : "");
  };
  canvas.onmouseleave = (event) => tip(event, "");
}
function drawGpu() {
  const gpu = launch().gpu, table = $("gpu-lines");
  $("gpu-part").style.display = gpu ? "" : "none";
  table.replaceChildren();
  $("layout").replaceChildren();
  if (!gpu) return;
  $("gpu").textContent = gpu.why_not ? `${gpu.architecture}: not simulated: ${gpu.why_not}` : `${gpu.architecture}, grid ${gpu.grid.join(" × ")}, ${gpu.warps} warps a program`;
  const head = element("tr"), rows = gpu.lines ?? [];
  for (const text of ["line", "sectors of global memory", "needed", "wavefronts of shared memory", "bank conflicts"]) head.append(element("th", text));
  if (rows.length) table.append(head);
  for (const row of rows) {
    const line = element("tr");
    for (const text of [row.line, number(row.global_sectors), percent(row.ideal_sectors, row.global_sectors), number(row.shared_wavefronts), number(row.bank_conflicts)]) line.append(element("td", text));
    if (row.bank_conflicts) line.lastChild.className = "bug";
    table.append(line);
  }
  (gpu.layouts ?? []).forEach((layout, i) => $("layout").append(new Option(`${i}: ${layout.text.split("]")[0]}] ${layout.used_by.slice(0, 3).join(", ")}`, i)));
  drawLayout();
}

function drawFindings() {
  const box = $("findings");
  box.replaceChildren();
  for (const finding of launch().findings) box.append(element("div", `${finding.kind}: ${finding.message} (line ${finding.line})`, "bug"));
}
// element -> [reads, writes] of what is shown
function touched(array) {
  const show = $("show").value, counts = new Map();
  const chosen = show === "heat" ? launch().accesses : show === "program" ? accessesOf(state.program) : accessesOf(state.program).slice(state.op, state.op + 1);
  for (const access of chosen) {
    if (access.array !== array || !access.elements) continue;
    for (const at of expand(access.elements)) {
      let entry = counts.get(at);
      if (!entry) counts.set(at, entry = [0, 0]);
      if (access.effects & READS) entry[0]++;
      if (access.effects & WRITES) entry[1]++;
    }
  }
  return counts;
}
// Rows and columns of an array, and where the element at a place lies in memory.
function layout(array) {
  const shape = array.shape.length ? array.shape : [1], strides = array.strides.length ? array.strides : [1];
  if (shape.length === 1) {
    const columns = Math.min(shape[0], 128);
    return { columns, rows: Math.ceil(shape[0] / Math.max(1, columns)), at: (r, c) => r * columns + c < shape[0] ? (r * columns + c) * strides[0] : null, name: (r, c) => r * columns + c };
  }
  const outer = shape.slice(0, -1), rows = outer.reduce((a, b) => a * b, 1), last = shape.length - 1;
  const index = (r) => { const out = []; for (let axis = outer.length - 1; axis >= 0; axis--) { out.unshift(r % outer[axis]); r = Math.floor(r / outer[axis]); } return out; };
  return { columns: shape[last], rows, at: (r, c) => index(r).reduce((sum, i, axis) => sum + i * strides[axis], c * strides[last]), name: (r, c) => [...index(r), c].join(", ") };
}
// Each array is a map of its elements that can be zoomed and moved; only what is in view is drawn.
function drawArrays() {
  const mode = $("value").value, arrays = launch().arrays, width = Math.max(320, $("arrays").clientWidth);
  const parts = d3.select("#arrays").selectAll(".array").data(arrays).join((enter) => { const part = enter.append("div").attr("class", "array"); part.append("div"); part.append("canvas"); part.append("div").attr("class", "bug"); return part; });
  parts.each(function (array, i) {
    const part = layout(array), counts = touched(i), values = mode === "access" ? null : array[mode];
    const outside = [...counts.keys()].filter((at) => at < array.first || at > array.last).length;
    const [head, canvas, note] = this.children;
    head.className = "soft"; head.textContent = `${array.name}: ${array.type} (${array.shape.join(", ")})`;
    note.textContent = outside ? `${outside} accesses outside of ${array.name}` : "";
    canvas.dataset.array = array.name;
    canvas.tabIndex = 0;
    if (part.rows && part.columns) drawArray(canvas, array, part, counts, values, width); else sharp(canvas, 0, 0);
  });
}
function drawArray(canvas, array, part, counts, values, width) {
  const size = Math.min(14, width / part.columns, Math.max(360 / part.rows, 0.5)), wide = Math.min(width, part.columns * size), high = Math.min(360, part.rows * size);
  const context = sharp(canvas, wide, high), most = d3.max(counts.values(), (entry) => entry[0] + entry[1]) || 1, isHeat = $("show").value === "heat";
  const finite = values ? values.filter(Number.isFinite) : [], [low, top] = finite.length ? d3.extent(finite) : [0, 1], shade = heat.copy().domain([low - 0.08 * (top - low || 1), top > low ? top : low + 1]);
  const colours = { none: theme("--line"), back: theme("--back"), read: theme("--read"), write: theme("--write"), both: theme("--both") };
  const colourAt = (r, c) => {
    const at = part.at(r, c), flat = r * part.columns + c;
    if (at === null) return null;
    if (values) return flat < values.length && Number.isFinite(values[flat]) ? shade(values[flat]) : colours.back;
    const entry = counts.get(at);
    if (!entry) return colours.none;
    return isHeat ? heat(0.15 + 0.85 * (entry[0] + entry[1]) / most) : entry[0] && entry[1] ? colours.both : entry[1] ? colours.write : colours.read;
  };
  const inView = () => { // [first row, rows, first column, columns, the step between those drawn, pixels of one]
    const { k, x, y } = d3.zoomTransform(canvas), cell = size * k, clip = (at, most) => Math.max(0, Math.min(most, at));
    const r = clip(Math.floor(-y / cell), part.rows - 1), c = clip(Math.floor(-x / cell), part.columns - 1);
    return { k, x, y, cell, r, c, rows: clip(Math.ceil((high - y) / cell), part.rows), columns: clip(Math.ceil((wide - x) / cell), part.columns), step: Math.max(1, Math.ceil(1 / cell)) };
  };
  function draw() {
    const view = inView(), gap = view.cell > 4 ? 1 : 0, one = view.cell * view.step;
    context.fillStyle = colours.back;
    context.fillRect(0, 0, wide, high);
    for (let r = view.r - view.r % view.step; r < view.rows; r += view.step) for (let c = view.c - view.c % view.step; c < view.columns; c += view.step) {
      const fill = colourAt(r, c);
      if (!fill) continue;
      context.fillStyle = fill;
      context.fillRect(view.x + c * view.cell, view.y + r * view.cell, one - gap, one - gap);
    }
    canvas.dataset.shown = `${view.r}-${view.rows - 1}, ${view.c}-${view.columns - 1}`;
  }
  const zoom = d3.zoom().scaleExtent([1, Math.max(1, 24 / size)]).extent([[0, 0], [wide, high]]).translateExtent([[0, 0], [part.columns * size, part.rows * size]]).on("zoom", draw);
  const target = d3.select(canvas).call(zoom);
  target.on("keydown", () => {
    const by = { "+": 2, "=": 2, "-": 0.5 }[d3.event.key], shift = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[d3.event.key];
    if (by) target.call(zoom.scaleBy, by);
    if (shift) target.call(zoom.translateBy, shift[0] * wide / 4 / d3.zoomTransform(canvas).k, shift[1] * high / 4 / d3.zoomTransform(canvas).k);
    if (d3.event.key === "Escape") target.call(zoom.transform, d3.zoomIdentity);
    if (by || shift) d3.event.preventDefault();
  });
  target.on("mousemove", () => {
    const { x, y, cell } = inView(), [px, py] = d3.mouse(canvas), r = Math.floor((py - y) / cell), c = Math.floor((px - x) / cell);
    if (r < 0 || c < 0 || r >= part.rows || c >= part.columns) return tip(d3.event, "");
    const at = part.at(r, c), entry = counts.get(at) ?? [0, 0], flat = r * part.columns + c, value = (list) => list && flat < list.length ? number(list[flat]) : "?";
    tip(d3.event, at === null ? "" : `${array.name}[${part.name(r, c)}]: ${value(array.before)} before, ${value(array.after)} after; ${entry[0]} reads, ${entry[1]} writes${programsAt(array, at)}`);
  }).on("mouseleave", () => tip(d3.event, ""));
  draw();
}
// Which of the recorded programs touch an element.
function programsAt(array, at) {
  const number_ = launch().arrays.indexOf(array), found = new Set();
  for (const access of launch().accesses) {
    if (access.array !== number_ || !access.elements || found.size > 8) continue;
    for (let i = 0; i < access.elements.length; i += 3) {
      const [first, step, count] = access.elements.slice(i, i + 3), k = step ? (at - first) / step : at === first ? 0 : -1;
      if (Number.isInteger(k) && k >= 0 && k < count) { found.add(access.program); break; }
    }
  }
  const places = [...found].slice(0, 8).map((program) => `(${place(program)})`);
  return places.length ? `\nby ${places.join(", ")}${found.size > 8 ? ", ..." : ""}` : "";
}

// ---- Source, launches

function drawSource() {
  const box = $("code"), owner = launch(), access = accessesOf(state.program)[state.op];
  const current = access ? owner.sites[access.site].line : -1, bytes = new Map();
  for (const site of owner.sites) if (site.file === owner.file) {
    const entry = bytes.get(site.line) ?? { bytes: 0, lanes: 0, enabled: 0, lines: 0, distance: null };
    if (site.reuse_distance !== null) entry.distance = Math.max(entry.distance ?? 0, site.reuse_distance);
    entry.bytes += site.bytes; entry.lanes += site.lanes; entry.enabled += site.enabled; entry.lines += site.cache_lines;
    bytes.set(site.line, entry);
  }
  box.replaceChildren();
  owner.source.forEach((text, i) => {
    const line = owner.first_line + i, row = element("div", undefined, line === current ? "now" : ""), entry = bytes.get(line);
    row.append(element("span", line, "number"));
    if (entry) row.append(element("span", `${number(entry.bytes)} B, ${percent(entry.lanes - entry.enabled, entry.lanes)} masked off, ${percent(entry.bytes, entry.lines * 64)} of cache lines used` +
      (entry.distance === null ? "" : `, touched again after ${number(entry.distance)} others`), "note"));
    row.append(text);
    if (owner.findings.some((finding) => finding.line === line)) row.classList.add("bug");
    row.addEventListener("click", () => {
      const at = accessesOf(state.program).findIndex((candidate) => owner.sites[candidate.site].line === line);
      const given = valuesOf(state.program).findIndex((candidate) => candidate.line === line);
      if (at >= 0) state.op = at;
      if (given >= 0) state.value = given;
      if (at >= 0 || given >= 0) drawProgram();
    });
    box.append(row);
  });
}
function sums(owner) {
  const total = [0, 0, 0, 0];
  for (const row of owner.programs) row.forEach((value, i) => total[i] += value);
  return { kernel: owner.kernel, grid: owner.grid.join(" × "), programs: owner.programs.length, loaded: total[0], stored: total[1], masked: percent(total[2] - total[3], total[2]),
    "time watched": (owner.seconds * 1e3).toFixed(3) + " ms", findings: owner.findings.length };
}
function drawAll() {
  const table = $("all"), rows = DATA.launches.map(sums), names = Object.keys(rows[0] ?? {});
  table.replaceChildren();
  const head = element("tr");
  for (const name of names) head.append(element("th", name));
  table.append(head);
  rows.forEach((values, i) => {
    const row = element("tr");
    for (const name of names) row.append(element("td", typeof values[name] === "number" ? number(values[name]) : values[name]));
    row.style.cursor = "pointer";
    row.addEventListener("click", () => selectLaunch(i));
    table.append(row);
  });
}
function drawComparison() {
  const box = $("compare"), other = $("other").value;
  box.replaceChildren();
  if (other === "") return;
  const a = sums(launch()), b = sums(DATA.launches[+other]), table = element("table");
  const head = element("tr");
  for (const text of ["", `launch ${state.launch}`, `launch ${other}`]) head.append(element("th", text));
  table.append(head);
  for (const name of Object.keys(a)) {
    const row = element("tr");
    for (const text of [name, a[name], b[name]]) row.append(element("td", typeof text === "number" ? number(text) : text));
    table.append(row);
  }
  box.append(table);
}

// ---- Choosing

function drawProgram() { drawOperations(); drawArrays(); drawValues(); drawSource(); }
function choose(program) { state.program = Math.max(0, Math.min(launch().programs.length - 1, program)); state.op = state.value = 0; drawGrid(); drawAxes(); drawProgram(); }
function selectLaunch(i) {
  state.launch = i; state.program = 0; state.op = state.value = 0;
  $("launch").value = i;
  const owner = launch(), constants = Object.entries(owner.constants).map(([name, value]) => `${name}=${value}`).join(", ");
  $("facts").textContent = `grid ${owner.grid.join(" × ")} · ${constants} · launched at ${owner.launched_at}` +
    (owner.device ? ` · ran on ${owner.device}` : "") + (owner.note ? ` · ${owner.note}` : owner.device ? ", recorded on the CPU" : "") +
    (owner.step > 1 ? ` · accesses kept of every ${owner.step}th program` : "") + (owner.left_out ? ` · ${owner.left_out} accesses summed up only` : "");
  drawGrid(); drawAxes(); drawFindings(); drawGpu(); drawProgram(); drawComparison();
}
function start() {
  if (!DATA.launches.length) { $("facts").textContent = "no kernel was launched"; return; }
  DATA.launches.forEach((owner, i) => { $("launch").append(new Option(`${i}: ${owner.kernel}`, i)); });
  $("other").append(new Option("none", ""));
  DATA.launches.forEach((owner, i) => $("other").append(new Option(`${i}: ${owner.kernel}`, i)));
  $("launch").addEventListener("change", () => selectLaunch(+$("launch").value));
  $("other").addEventListener("change", drawComparison);
  $("colour").addEventListener("change", drawGrid);
  $("show").addEventListener("change", drawArrays);
  $("value").addEventListener("change", drawArrays);
  $("layout").addEventListener("change", drawLayout);
  $("grid").addEventListener("click", (event) => { const program = programUnder(event); if (program >= 0) choose(program); });
  $("grid").addEventListener("mousemove", (event) => { const program = programUnder(event); tip(event, program < 0 ? "" : `program (${place(program)}): ${number(gridValue(program))}`); });
  $("grid").addEventListener("mouseleave", (event) => tip(event, ""));
  $("grid").addEventListener("keydown", (event) => {
    const [columns] = gridShape(), by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (by) { event.preventDefault(); choose(state.program + by); }
  });
  $("play").addEventListener("click", () => {
    if (state.timer) { clearInterval(state.timer); state.timer = null; $("play").textContent = "play"; return; }
    let i = 0;
    $("play").textContent = "stop";
    state.timer = setInterval(() => { const order = launch().order; if (i >= order.length) { $("play").click(); return; } choose(order[i++]); }, 120);
  });
  drawAll();
  selectLaunch(0);
}
start();
