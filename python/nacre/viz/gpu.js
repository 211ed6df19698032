// What a simulated GPU did in a launch: its counters by line, and layouts of tiles over warps, lanes and registers.

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
const warpColour = (warp) => d3.schemeTableau10[warp % 10];
const laneShade = d3.scaleLinear([0, 31], [0.2, 0.8]);
const holderColour = ([warp, lane]) => d3.interpolateRgb(warpColour(warp), "#fff")(1 - laneShade(lane % 32));
// Another layout: numbers where they fit beside each other.
function chooseLayout() {
  const chosen = launch().gpu?.layouts?.[+$("layout").value];
  if (chosen) { const { shape } = holders(chosen.text); $("layout-numbers").checked = shape.length === 1 || shape[shape.length - 1] <= 32; }
  drawLayout();
}
// The map of a layout: warps by colour, lanes by shade, lane and register as numbers where these are wanted.
function drawLayout() {
  const layouts = launch().gpu?.layouts ?? [], chosen = layouts[+$("layout").value], canvas = $("layout-map"), key = $("layout-key");
  $("layout").closest(".row").style.display = layouts.length ? "" : "none";
  key.replaceChildren();
  canvas.hidden = !chosen;
  $("layout-text").textContent = chosen ? `${chosen.text}; of ${chosen.used_by.join(", ")}` : "";
  if (!chosen) { sharp(canvas, 0, 0); return; }
  const { shape, owner } = holders(chosen.text), length = shape[shape.length - 1], columns = shape.length === 1 ? Math.min(length, 32) : length;
  const rows = Math.min(256, Math.ceil(owner.length / columns)), numbers = $("layout-numbers").checked, wide = Math.min(columns, numbers ? 256 : 1024);
  const size = Math.max(2, Math.min(18, Math.floor(1100 / wide), Math.floor(420 / rows))), [w, h] = numbers ? [38, 18] : [size, size], context = sharp(canvas, wide * w, rows * h);
  context.font = "10px ui-monospace, monospace"; context.textAlign = "center"; context.textBaseline = "middle";
  for (let r = 0; r < rows; r++) for (let c = 0; c < wide; c++) {
    const holder = owner[r * columns + c];
    if (!holder) continue;
    context.fillStyle = holderColour(holder);
    context.fillRect(c * w, r * h, w > 3 ? w - 1 : w, h > 3 ? h - 1 : h);
    if (numbers) { context.fillStyle = "#10151c"; context.fillText(`${holder[1]}:${holder[2]}`, c * w + w / 2, r * h + h / 2); }
  }
  drawLayoutKey(key, owner.filter(Boolean), numbers, rows * columns < owner.length || wide < columns);
  canvas.onmousemove = (event) => {
    const [x, y] = d3.clientPoint(canvas, event), c = Math.floor(x / w), r = Math.floor(y / h), flat = r * columns + c;
    const holder = r >= 0 && r < rows && c >= 0 && c < wide ? owner[flat] : null, index = [];
    for (let axis = shape.length - 1, rest = flat; axis >= 0; axis--) { index.unshift(rest % shape[axis]); rest = Math.floor(rest / shape[axis]); }
    tip(event, holder ? `element (${index.join(", ")}): warp ${holder[0]}, lane ${holder[1]}, register ${holder[2]}` : "");
  };
  canvas.onmouseleave = (event) => tip(event, "");
}
// What colour, shade and numbers mean.
function drawLayoutKey(key, held, numbers, isCut) {
  const most = (part) => d3.max(held, (holder) => holder[part]), lanes = most(1), warps = d3.range(Math.min(most(0) + 1, 16));
  const swatch = (colour, text, name) => { const made = element("span", undefined, name), box = element("i"); box.style.background = colour; made.append(box, text); return made; };
  const ramp = `linear-gradient(to right, ${[0, lanes / 2, lanes].map((lane) => holderColour([0, lane])).join(", ")})`;
  key.append(element("b", "colour:"), ...warps.map((warp) => swatch(warpColour(warp), `warp ${warp}`, "warp")), ...most(0) >= 16 ? [`… to warp ${most(0)} (colours repeat after 10)`] : [],
    element("b", "shade:"), swatch(ramp, lanes ? `lane 0 (light) to lane ${lanes} (dark)` : "lane 0", "lanes"),
    element("b", "number:"), element("span", numbers ? `lane:register of the thread, so 5:0 is lane 5's register 0; it has registers 0 to ${most(2)}` : `tick "numbers", or point at an element: lane and register (0 to ${most(2)})`, "registers"),
    ...isCut ? [element("span", "· only the first rows and columns are drawn")] : []);
}

function drawGpu() {
  const gpu = launch().gpu, table = $("gpu-lines");
  $("gpu-part").style.display = gpu ? "" : "none";
  table.replaceChildren();
  $("layout").replaceChildren();
  $("gpu-findings").replaceChildren();
  if (!gpu) return;
  $("gpu").textContent = gpu.why_not ? `${gpu.architecture}: not simulated: ${gpu.why_not}` : `${gpu.architecture}, grid ${gpu.grid.join(" × ")}, ${gpu.warps} warps a program`;
  const head = element("tr"), rows = gpu.lines ?? [];
  for (const text of ["line of the kernel", "sectors of global memory", "needed", "wavefronts of shared memory", "bank conflicts"]) head.append(element("th", text));
  if (rows.length) table.append(head);
  for (const row of rows) {
    const line = element("tr"), where = element("td");
    const others = row.more_lines ?? [];
    where.append(element("span", row.file ? `${baseName(row.file)}:${[row.line, ...others].join(", ")}` : "code of no line", "where"), " ", element("code", row.file ? textOf(row.file, row.line) : ""));
    where.title = row.file ? `${row.file}:${row.line}\n${textOf(row.file, row.line)}` + (others.length ? "\n(a function of the language that these lines call)" : "") : "what the compiler adds";
    line.append(where);
    for (const text of [number(row.global_sectors), percent(row.ideal_sectors, row.global_sectors), number(row.shared_wavefronts), number(row.bank_conflicts)]) line.append(element("td", text));
    if (row.bank_conflicts) line.lastChild.className = "bug";
    line.addEventListener("click", () => chooseLine(row.file, row.line));
    table.append(line);
  }
  for (const finding of gpu.findings ?? []) $("gpu-findings").append(element("div", `${finding.kind}: ${finding.message}` + (finding.line ? ` (line ${lineName(finding.file ?? launch().file, finding.line)})` : ""), "bug"));
  (gpu.layouts ?? []).forEach((layout, i) => $("layout").append(new Option(`${i}: ${layout.text.split("]")[0]}] ${layout.used_by.slice(0, 3).join(", ")}`, i)));
  chooseLayout();
}
