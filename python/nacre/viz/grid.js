// The grid as a map of its programs. Where there are more programs than pixels, a pixel shows the most of those that fall on it.

function place(program) { const [x, y] = launch().grid; return [program % x, Math.floor(program / x) % y, Math.floor(program / x / y)]; }
function programAt([x, y, z]) { const grid = launch().grid; return x + grid[0] * (y + grid[1] * z); }
// Programs that are shown, and the sums of one: in a large grid those of the last one before it that are in the page.
const rowsStep = () => launch().rows_step ?? 1;
const programCount = () => Math.min(launch().programs.length * rowsStep(), launch().grid.reduce((a, b) => a * b, 1));
const rowOf = (program) => launch().programs[Math.floor(program / rowsStep())];
const findingCounts = () => cached("findings", () => {
  const counts = new Map();
  for (const finding of launch().findings) { const program = programAt(finding.program); counts.set(program, (counts.get(program) ?? 0) + 1); }
  return counts;
});

const COLOURS = { // of programs: what it is of a program, and how it is written
  bytes: { of: (row) => row[0] + row[1], text: (value) => `${number(value)} bytes` },
  masked: { of: (row) => row[2] - row[3], text: (value) => `${number(value)} lanes` },
  time: { of: (row) => row[4] ?? 0, text: duration },
  errors: { of: (row, program) => findingCounts().get(program) ?? 0, text: (value) => `${value} findings` },
};
function gridValue(program) {
  const row = rowOf(program);
  return row ? COLOURS[$("colour").value].of(row, program) : 0;
}
const gridValues = () => cached("grid " + $("colour").value, () => Float64Array.from({ length: programCount() }, (_, program) => gridValue(program)));
// Columns and rows of the map: those of the grid where they fit, else as many as make it about as wide as high.
function gridShape() {
  const [x, y, z] = launch().grid, count = programCount();
  if (!count) return [0, 0];
  if (y * z > 1 && x <= 160 && y * z <= 120) return [x, y * z];
  const columns = Math.min(count, Math.max(32, Math.ceil(Math.sqrt(count * 4 / 3))));
  return [columns, Math.ceil(count / columns)];
}
function drawGrid() {
  const canvas = $("grid"), [columns, rows] = gridShape(), count = programCount(), kind = $("colour").value, values = gridValues();
  const room = Math.max(200, $("grid-part").clientWidth - 26), fit = Math.min(26, room / columns, 300 / rows), size = fit >= 2 ? Math.floor(fit) : fit;
  const context = sharp(canvas, count ? Math.max(1, columns * size) : 0, count ? Math.max(1, rows * size) : 0), most = d3.max(values) || 0;
  const shade = kind === "errors" ? d3.scaleThreshold([1], [heat(0), "#c1121f"]) : heat.copy().domain([-0.08 * (most || 1), most || 1]);
  canvas.size = size;
  canvas.hidden = !count;
  if (size >= 1) {
    for (let i = 0; i < count; i++) {
      context.fillStyle = shade(values[i]);
      context.fillRect((i % columns) * size, Math.floor(i / columns) * size, size > 4 ? size - 1 : size, size > 4 ? size - 1 : size);
    }
  } else {
    const wide = Math.ceil(columns * size), pixels = new Float64Array(wide * Math.ceil(rows * size)).fill(-1);
    for (let i = 0; i < count; i++) {
      const at = Math.floor((i % columns) * size) + wide * Math.floor(Math.floor(i / columns) * size);
      pixels[at] = Math.max(pixels[at], values[i]);
    }
    pixels.forEach((value, at) => { if (value >= 0) { context.fillStyle = shade(value); context.fillRect(at % wide, Math.floor(at / wide), 1, 1); } });
  }
  const side = Math.max(5, size - 3), middle = (at) => (at + 0.5) * size - side / 2 - (size > 4 ? 0.5 : 0);
  context.strokeStyle = theme("--write"); context.lineWidth = 2;
  if (count) context.strokeRect(middle(state.program % columns), middle(Math.floor(state.program / columns)), side, side);
  drawLegend(kind === "errors" || !count ? null : shade, most, COLOURS[kind].text);
  const row = rowOf(state.program) ?? [0, 0, 0, 0], [x, y, z] = launch().grid;
  $("program").textContent = !count ? x * y * z ? "there are no sums of its programs" : "the grid has no programs"
    : `program (${place(state.program)}): ${number(row[0])} bytes loaded, ${number(row[1])} stored, ${percent(row[2] - row[3], row[2])} of its lanes masked off`
    + (row[4] ? `, ${duration(row[4])} while watched` : "") + (state.program % rowsStep() ? ` (sums of program ${place(state.program - state.program % rowsStep())}: the page has every ${rowsStep()}th program's)` : "")
    + (state.program % launch().step ? `; its accesses are not kept (every ${launch().step}th program's are)` : "");
}
// The colours' scale below the grid, from 0 to the most.
function drawLegend(shade, most, text) {
  const width = 220, steps = 52, svg = d3.select("#legend").attr("width", width + 100).attr("height", shade ? 36 : 0);
  svg.selectAll("rect").data(shade ? d3.range(steps) : []).join("rect").attr("x", (i) => 30 + i * width / steps).attr("y", 4).attr("width", width / steps + 0.5).attr("height", 10).attr("fill", (i) => shade(i / (steps - 1) * most));
  const axis = d3.axisBottom(d3.scaleLinear([0, most || 1], [30, width + 30])).tickValues(most ? [0, most] : [0]).tickFormat(text);
  svg.selectAll("g").data(shade ? [0] : []).join("g").attr("class", "axis").attr("transform", "translate(0,14)").call((group) => shade && group.call(axis));
}
function programUnder(event) {
  const canvas = $("grid"), [columns] = gridShape(), [x, y] = d3.clientPoint(canvas, event).map((at) => Math.floor(at / canvas.size));
  const program = y * columns + x;
  return x >= 0 && y >= 0 && x < columns && program < programCount() ? program : -1;
}
// A slider and a number for each axis. They are made once for a launch: one that is being dragged stays.
function makeAxes() {
  $("axes").replaceChildren(...launch().grid.flatMap((extent, axis) => {
    if (extent <= 1) return [];
    const label = element("label", "xyz"[axis] + " "), inputs = ["range", "number"].map((type) => Object.assign(element("input"), { type, min: 0, max: extent - 1 }));
    inputs[1].style.width = `${String(extent).length + 5}ch`;
    for (const input of inputs) {
      input.dataset.axis = axis;
      input.setAttribute("aria-label", `program id ${axis}`);
      input.addEventListener("input", () => { const at = place(state.program); at[axis] = Math.max(0, Math.min(extent - 1, Math.floor(+input.value) || 0)); choose(programAt(at)); });
    }
    label.append(...inputs);
    return [label];
  }));
}
function drawAxes() {
  const at = place(state.program);
  for (const input of document.querySelectorAll("#axes input")) if (document.activeElement !== input || input.type === "range") input.value = at[input.dataset.axis];
}
