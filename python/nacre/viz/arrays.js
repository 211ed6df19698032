// The arrays of a launch as maps of their elements, which can be zoomed and moved: what was accessed, values, the element of a finding.

const READS = 2, WRITES = 1, HIGHEST = 300; // of the maps, in pixels

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

// Where the elements of an array are drawn. Its rows (of all axes but the last) are cut into blocks, which stand beside and below each
// other so that the map is some three times as wide as high: the slices of three axes, pieces of a long, thin array.
//   rows, columns: of the map, gaps between blocks included     spot(row, column): where an element of the array is drawn
//   element(r, c): what is drawn there, as {at: its place in memory, flat: its number in the array, index: as text}, or null
//   find(at): the spot of a place in memory, or null
function layout(array) {
  const shape = array.shape.length ? array.shape : [1], strides = array.strides.length ? array.strides : [1], axes = shape.length;
  const outer = shape.slice(0, -1), total = outer.reduce((a, b) => a * b, 1), length = shape[axes - 1], slices = axes > 2 ? outer.slice(0, -1).reduce((a, b) => a * b, 1) : 1;
  let high = total, wide = length, across = 1;
  if (axes > 1 && wide > 256 && wide > 24 * total) wide = Math.ceil(Math.sqrt(3 * wide * (total + 1)));
  else if (slices > 1) [high, across] = [outer[axes - 2], Math.max(1, Math.min(slices, Math.round(Math.sqrt(3 * total / Math.max(1, wide)))))];
  else if (axes === 1) wide = Math.min(length, length <= 1 << 14 ? 128 : 2 ** Math.ceil(Math.log2(Math.sqrt(3 * length))));
  else if (total > 64 && total > 8 * wide) { across = Math.max(1, Math.round(Math.sqrt(3 * total / (wide + 1)))); high = Math.ceil(total / across); across = Math.ceil(total / high); }
  const perRow = Math.ceil(length / Math.max(1, wide)), blocks = Math.ceil(total / Math.max(1, high)) * perRow; // one of the two factors is 1
  const gap = blocks > 1 && total > 1 ? 1 : 0, down = Math.ceil(blocks / across);
  const indexOf = (row) => { const out = []; for (let axis = outer.length - 1; axis >= 0; axis--) { out.unshift(row % outer[axis]); row = Math.floor(row / outer[axis]); } return out; };
  const order = d3.range(axes).filter((axis) => strides[axis] && shape[axis] > 1).sort((a, b) => Math.abs(strides[b]) - Math.abs(strides[a]));
  const lowest = d3.sum(order, (axis) => Math.min(0, strides[axis] * (shape[axis] - 1)));
  const spot = (row, column) => {
    const block = perRow > 1 ? Math.floor(column / wide) : Math.floor(row / high);
    return [Math.floor(block / across) * (high + gap) + row % high, block % across * (wide + gap) + column % wide];
  };
  return {
    rows: total && length ? down * (high + gap) - gap : 0, columns: total && length ? across * (wide + gap) - gap : 0, length, spot,
    element(r, c) {
      const row = r % (high + gap), column = c % (wide + gap), block = Math.floor(r / (high + gap)) * across + Math.floor(c / (wide + gap));
      const y = perRow > 1 ? row : block * high + row, x = perRow > 1 ? block * wide + column : column;
      if (row >= high || column >= wide || y >= total || x >= length) return null;
      const index = indexOf(y);
      return { at: index.reduce((sum, i, axis) => sum + i * strides[axis], x * strides[axes - 1]), flat: y * length + x, index: [...index, x].join(", ") };
    },
    find(at) {
      let rest = at - lowest;
      const index = shape.map(() => 0);
      for (const axis of order) {
        const step = Math.abs(strides[axis]), i = Math.floor(rest / step);
        if (i < 0 || i >= shape[axis]) return null;
        index[axis] = strides[axis] > 0 ? i : shape[axis] - 1 - i;
        rest -= i * step;
      }
      return rest || !total || !length ? null : spot(outer.reduce((row, extent, axis) => row * extent + index[axis], 0), index[axes - 1]);
    },
  };
}

function drawArrays() {
  const mode = $("value").value, width = Math.max(280, $("arrays").clientWidth), finding = state.finding;
  if ($("show").value === "op" && state.op < 0) state.op = 0;
  const parts = d3.select("#arrays").selectAll(".array").data(launch().arrays)
    .join((enter) => { const part = enter.append("div"); part.append("div"); part.append("canvas"); part.append("div"); return part; });
  parts.each(function (array, i) {
    const counts = touched(i), values = mode === "access" ? null : array[mode], bad = finding && finding.argument === array.name ? badElement(finding) : null;
    const isOutside = (at) => at < array.first || at > array.last, outside = [...counts.keys()].filter(isOutside);
    if (bad !== null && isOutside(bad) && !counts.has(bad)) outside.push(bad);
    const [head, canvas, note] = this.children;
    this.className = "array" + (bad === null ? "" : " marked");
    head.className = "soft"; head.textContent = `${array.name}: ${array.type} (${array.shape.join(", ")})` + (mode === "access" ? "" : keyOfValues(array, values));
    canvas.dataset.array = array.name;
    canvas.tabIndex = 0;
    drawOutside(note, array, outside.sort((a, b) => a - b), counts, bad);
    drawArray(canvas, array, layout(array), counts, values, width, bad !== null && !isOutside(bad) ? bad : null);
  });
}
function keyOfValues(array, values) {
  if (!values) return " · values are not kept";
  const [low, high] = d3.extent(values.filter(Number.isFinite)), count = array.shape.reduce((a, b) => a * b, 1);
  return (low === undefined ? "" : ` · ${number(low)} (light) to ${number(high)} (dark)`) + (values.length < count ? ` · of the first ${number(values.length)} elements` : "");
}
// Accesses outside of the array, as a strip of elements at its end or before its begin.
function drawOutside(box, array, outside, counts, bad) {
  box.className = outside.length ? "outside" : "";
  box.replaceChildren();
  if (!outside.length) return;
  const strip = element("div", undefined, "strip"), cell = (at) => {
    const isIn = at >= array.first && at <= array.last, made = element("span", at, isIn ? "inside" : at === bad ? "bad found" : "bad"), [reads, writes] = counts.get(at) ?? [0, 0];
    made.title = isIn ? `${array.name}[${at}], the ${at === array.last ? "last" : "first"} that is the array's` : `element ${at}: not the array's; ${reads} reads, ${writes} writes`;
    return made;
  };
  const more = () => element("span", "…", "more"), none = array.last < array.first;
  // Around the marked one, where there are more than fit.
  const first = Math.max(0, Math.min(outside.indexOf(bad) - 12, outside.length - 24)), shown = outside.slice(first, first + 24);
  box.append(element("div", `${number(outside.length)} accessed outside of ${array.name}` + (none ? ", which has no elements" : ` (it has ${number(array.first)} to ${number(array.last)})`), "bug"));
  const ends = none ? [] : [array.first, array.last];
  let before = null;
  for (const at of [...shown, ...ends].sort((a, b) => a - b)) {
    if (before === at) continue;
    if (before !== null && at > before + 1) strip.append(more());
    strip.append(cell(at));
    before = at;
  }
  if (shown.length < outside.length) strip.append(element("span", `and ${number(outside.length - shown.length)} more`, "more"));
  box.append(strip);
}
function drawArray(canvas, array, part, counts, values, width, bad) {
  canvas.hidden = !part.rows || !part.columns;
  if (canvas.hidden) { sharp(canvas, 0, 0); return; }
  const size = Math.min(14, width / part.columns, HIGHEST / part.rows), wide = Math.max(1, part.columns * size), high = Math.max(1, part.rows * size);
  const context = sharp(canvas, wide, high), most = d3.max(counts.values(), (entry) => entry[0] + entry[1]) || 1, isHeat = $("show").value === "heat";
  const finite = values ? values.filter(Number.isFinite) : [], [low, top] = finite.length ? d3.extent(finite) : [0, 1], shade = heat.copy().domain([low - 0.08 * (top - low || 1), top > low ? top : low + 1]);
  const colours = { none: theme("--line"), back: theme("--back"), read: theme("--read"), write: theme("--write"), both: theme("--both"), odd: theme("--odd") };
  const valueColour = (flat) => flat < values.length ? Number.isFinite(values[flat]) ? shade(values[flat]) : colours.odd : colours.none;
  const accessColour = (entry) => isHeat ? heat(0.15 + 0.85 * (entry[0] + entry[1]) / most) : entry[0] && entry[1] ? colours.both : entry[1] ? colours.write : colours.read;
  const inView = () => { // [first row, rows, first column, columns, pixels of one]
    const { k, x, y } = d3.zoomTransform(canvas), cell = size * k, clip = (at, most) => Math.max(0, Math.min(most, at));
    const r = clip(Math.floor(-y / cell), part.rows - 1), c = clip(Math.floor(-x / cell), part.columns - 1);
    return { x, y, cell, r, c, rows: clip(Math.ceil((high - y) / cell), part.rows), columns: clip(Math.ceil((wide - x) / cell), part.columns) };
  };
  const mark = bad === null ? null : part.find(bad);
  function draw() {
    const view = inView(), gap = view.cell > 4 ? 1 : 0, fill = (r, c, colour, one) => { context.fillStyle = colour; context.fillRect(view.x + c * view.cell, view.y + r * view.cell, one, one); };
    context.fillStyle = colours.back;
    context.fillRect(0, 0, wide, high);
    if (view.cell >= 1) {
      for (let r = view.r; r < view.rows; r++) for (let c = view.c; c < view.columns; c++) {
        const one = part.element(r, c);
        if (one) fill(r, c, values ? valueColour(one.flat) : counts.has(one.at) ? accessColour(counts.get(one.at)) : colours.none, view.cell - gap);
      }
    } else { // elements are smaller than pixels: what there is to show is drawn one by one, at least a pixel each
      context.fillStyle = colours.none;
      context.fillRect(view.x, view.y, part.columns * view.cell, part.rows * view.cell);
      if (values) values.forEach((_, flat) => fill(...part.spot(Math.floor(flat / part.length), flat % part.length), valueColour(flat), 1));
      else for (const [at, entry] of counts) { const spot = part.find(at); if (spot) fill(...spot, accessColour(entry), 1); }
    }
    if (mark) {
      const side = Math.max(9, view.cell + 3), [y, x] = mark.map((at) => (at + 0.5) * view.cell - side / 2);
      context.strokeStyle = theme("--bad"); context.lineWidth = 3;
      context.strokeRect(view.x + x, view.y + y, side, side);
    }
    canvas.dataset.shown = `${view.r}-${view.rows - 1}, ${view.c}-${view.columns - 1}`;
  }
  const zoom = d3.zoom().scaleExtent([1, Math.max(1, 24 / size)]).extent([[0, 0], [wide, high]]).translateExtent([[0, 0], [wide, high]]).on("zoom", draw);
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
    const one = r < 0 || c < 0 || r >= part.rows || c >= part.columns ? null : part.element(r, c), entry = counts.get(one?.at) ?? [0, 0];
    const value = (list) => list && one.flat < list.length ? number(list[one.flat]) : "?";
    tip(d3.event, one ? `${array.name}[${one.index}]: ${value(array.before)} before, ${value(array.after)} after; ${entry[0]} reads, ${entry[1]} writes${programsAt(array, one.at)}` : "");
  }).on("mouseleave", () => tip(d3.event, ""));
  draw();
}
// Which of the recorded programs touch an element.
function programsAt(array, at) {
  const which = launch().arrays.indexOf(array), found = new Set();
  for (const access of launch().accesses) {
    if (access.array !== which || !access.elements || found.size > 8) continue;
    for (let i = 0; i < access.elements.length; i += 3) {
      const [first, step, count] = access.elements.slice(i, i + 3), k = step ? (at - first) / step : at === first ? 0 : -1;
      if (Number.isInteger(k) && k >= 0 && k < count) { found.add(access.program); break; }
    }
  }
  const places = [...found].slice(0, 8).map((program) => `(${place(program)})`);
  return places.length ? `\nby ${places.join(", ")}${found.size > 8 ? ", ..." : ""}` : "";
}
