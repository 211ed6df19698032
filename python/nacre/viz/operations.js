// What a program does: the kernel's source, its operations on memory, the tiles that operations gave, findings of the sanitizers.

const baseName = (path) => path.split(/[\\/]/).pop();
// file:line, without the file where it is the kernel's own.
const lineName = (file, line) => file === launch().file ? `${line}` : `${baseName(file)}:${line}`;
function textOf(file, line) {
  const owner = launch(), own = file === owner.file ? owner.source[line - owner.first_line] : undefined;
  return (own ?? owner.elsewhere?.[file]?.[line] ?? "").trim();
}
// What a program did at the same place of the text, time after time: [{key, indices}], in the order of the first times.
function grouped(list, keyOf) {
  const groups = new Map();
  list.forEach((one, i) => { const key = keyOf(one), group = groups.get(key); if (group) group.indices.push(i); else groups.set(key, { key, indices: [i] }); });
  return [...groups.values()];
}
const placeKey = (name, { file, line, column }) => [name, file, line, column].join("\n");
const accessKey = (access) => `${access.site} ${access.array}`;
const valueKey = (value) => placeKey(value.name, value);
const accessGroups = (program) => cached("groups" + program, () => grouped(accessesOf(program), accessKey));
const valueGroups = (program) => cached("value groups" + program, () => grouped(valuesOf(program), valueKey));

function drawButtons(box, groups, label, chosen, choose) {
  box.replaceChildren(...groups.slice(0, 400).map((group) => {
    const isNow = group.indices.includes(chosen), button = element("button", label(group) + (group.indices.length > 1 ? ` × ${number(group.indices.length)}` : ""), isNow ? "now" : "");
    button.setAttribute("aria-pressed", isNow);
    button.addEventListener("click", () => choose(group.indices[0]));
    return button;
  }));
  if (groups.length > 400) box.append(element("span", `and ${groups.length - 400} more places`, "soft"));
}
// The slider over the times that an operation was done; it stays while it is dragged.
function drawTimes(label, group, chosen, choose) {
  const [slider, text] = label.querySelectorAll("input, span"), count = group?.indices.length ?? 0;
  label.hidden = count < 2;
  if (label.hidden) return;
  slider.max = count;
  slider.value = group.indices.indexOf(chosen) + 1;
  slider.oninput = () => choose(group.indices[slider.value - 1]);
  text.textContent = `${number(+slider.value)} of ${number(count)}`;
}
const groupOf = (groups, chosen) => groups.find((group) => group.indices.includes(chosen));

// An operation alone, and the tile that it gave; -1: all of them.
function chooseOperation(op) {
  const access = accessesOf(state.program)[op];
  state.op = op;
  state.finding = null;
  $("show").value = op < 0 ? "program" : "op";
  if (access) {
    const site = launch().sites[access.site], key = placeKey(site.name, site), time = groupOf(accessGroups(state.program), op).indices.indexOf(op);
    const given = valueGroups(state.program).find((group) => group.key === key)?.indices[time];
    if (given !== undefined) state.value = given;
  }
  drawProgram();
}
function drawOperations() {
  const all = accessesOf(state.program), groups = accessGroups(state.program), access = all[state.op];
  $("op-all").className = state.op < 0 ? "now" : "";
  $("op-all").setAttribute("aria-pressed", state.op < 0);
  drawButtons($("ops"), groups, ({ indices }) => { const one = all[indices[0]], site = launch().sites[one.site]; return `${lineName(site.file, site.line)}: ${one.name} ${launch().arrays[one.array]?.name ?? "?"}`; }, state.op, chooseOperation);
  drawTimes($("op-times"), access && groupOf(groups, state.op), state.op, chooseOperation);
  if (!access) {
    const isKept = state.program % launch().step === 0 && !launch().note.startsWith("not shown") && launch().programs.length;
    $("op").textContent = all.length ? `${several(all.length, "operation")} at ${several(groups.length, "place")}, all drawn below; choose one to see it alone`
      : !isKept ? "nothing is kept of it" : rowOf(state.program)?.[2] ? "its accesses are not kept: there was no room" : "it accesses no memory";
    return;
  }
  const site = launch().sites[access.site], lanes = access.shape.reduce((a, b) => a * b, 1), elements = access.elements ? expand(access.elements) : [];
  const origin = launch().arrays[access.array]?.origin ?? 0, lineAt = (at) => Math.floor((origin + at * access.size) / 64), lines = new Set(elements.map(lineAt));
  $("op").textContent = `${access.name} of a ${access.shape.length ? access.shape.join(" × ") + " tile" : "scalar"}, ${access.size} bytes each, line ${lineName(site.file, site.line)}: ` +
    `${elements.length} of ${lanes} lanes, ${elements.length * access.size} bytes wanted in ${lines.size} cache lines (${percent(elements.length * access.size, lines.size * 64)} of them used)`;
}

// ---- The tiles that operations gave

const roleOf = (value, i) => {
  const last = i === value.tiles.length - 1;
  if (value.name === "dot" && value.tiles.length === 3) return ["left", "right", "result"][i];
  return value.tiles.length > 1 ? (last ? "result" : "operand") : "result";
};
// A table of the tile's elements, rows and columns numbered; a tile of one axis is wrapped.
function drawTile(tile, role) {
  const shape = tile.shape.length ? tile.shape : [1], axes = shape.length, wide = shape[axes - 1], columns = axes === 1 ? Math.min(wide, 16) : wide;
  const count = shape.reduce((a, b) => a * b, 1), rows = Math.ceil(tile.first.length / columns), box = element("div", undefined, "tile"), table = element("table");
  const [low, high] = d3.extent(tile.first.filter(Number.isFinite));
  const indexOf = (row) => { const out = []; for (let axis = axes - 2; axis >= 0; axis--) { out.unshift(row % shape[axis]); row = Math.floor(row / shape[axis]); } return out.join(", "); };
  table.tabIndex = 0; // it scrolls
  if (count > 1) {
    const head = element("tr");
    head.append(element("th"), ...d3.range(Math.min(columns, tile.first.length)).map((c) => element("th", axes === 1 ? `+${c}` : c)));
    table.append(head);
  }
  for (let r = 0; r < rows; r++) {
    const row = element("tr");
    if (count > 1) row.append(element("th", axes === 1 ? r * columns : indexOf(r)));
    for (let c = 0; c < columns && r * columns + c < tile.first.length; c++) {
      const value = tile.first[r * columns + c], cell = element("td", number(value)), at = high > low ? (value - low) / (high - low) : 0;
      if (Number.isFinite(value)) { cell.style.background = heat(at); cell.className = at > 0.5 ? "dark" : "light"; } else cell.className = "odd";
      row.append(cell);
    }
    table.append(row);
  }
  box.append(element("div", `${role}: ${tile.shape.length ? tile.shape.join(" × ") : "scalar"}` + (tile.first.length < count ? `, the first ${tile.first.length} shown` : ""), "soft"), table);
  return box;
}
function chooseValue(value) { state.value = value; drawValues(); drawSource(); }
function drawValues() {
  const all = valuesOf(state.program), groups = valueGroups(state.program), value = all[state.value];
  drawButtons($("values"), groups, ({ indices }) => { const one = all[indices[0]]; return `${lineName(one.file, one.line)}: ${one.name}`; }, state.value, chooseValue);
  drawTimes($("value-times"), value && groupOf(groups, state.value), state.value, chooseValue);
  $("value-of").textContent = value ? `line ${lineName(value.file, value.line)}: ${textOf(value.file, value.line)}` : "no values are kept: of loads, products, reductions and what lines compute";
  $("tiles").replaceChildren(...(value ? value.tiles.map((tile, i) => drawTile(tile, roleOf(value, i))) : []));
}

// ---- Source: the kernel's own text, then lines of other functions that it calls; what each line moved stands before it

function drawSource() {
  const box = $("code"), owner = launch(), access = accessesOf(state.program)[state.op], value = valuesOf(state.program)[state.value];
  const now = state.finding ?? (access ? owner.sites[access.site] : null), moved = new Map();
  for (const site of owner.sites) {
    const key = site.file + "\n" + site.line, entry = moved.get(key) ?? { bytes: 0, lanes: 0, enabled: 0, lines: 0, distance: null };
    if (site.reuse_distance !== null) entry.distance = Math.max(entry.distance ?? 0, site.reuse_distance);
    entry.bytes += site.bytes; entry.lanes += site.lanes; entry.enabled += site.enabled; entry.lines += site.cache_lines;
    moved.set(key, entry);
  }
  const row = (file, line, text) => {
    const made = element("div", undefined, now && now.file === file && now.line === line ? "now" : ""), entry = moved.get(file + "\n" + line);
    const facts = entry ? [bytes(entry.bytes), percent(entry.lanes - entry.enabled, entry.lanes), percent(entry.bytes, entry.lines * 64)] : ["", "", ""];
    made.append(element("span", line, "number"), ...facts.map((fact) => element("span", fact, "fact")), element("span", text, "text"));
    if (entry) made.title = `${number(entry.bytes)} bytes moved, ${facts[1]} of the lanes masked off, ${facts[2]} of the touched cache lines used` + (entry.distance === null ? "" : `, touched again after ${number(entry.distance)} others`);
    if (owner.findings.some((finding) => finding.line === line && finding.file === file)) made.classList.add("bug");
    if (!now && value && value.file === file && value.line === line) made.classList.add("near");
    made.addEventListener("click", () => chooseLine(file, line));
    return made;
  };
  const head = element("div", undefined, "head");
  head.append(element("span", "line", "number"), ...["moved", "masked", "used"].map((fact) => element("span", fact, "fact")), element("span", baseName(owner.file), "text"));
  head.title = "bytes that all programs moved at the line, lanes that masks leave out, and how much of the touched cache lines was wanted";
  const rows = owner.source.map((text, i) => row(owner.file, owner.first_line + i, text));
  for (const [file, lines] of Object.entries(owner.elsewhere ?? {})) {
    const part = element("div", undefined, "head");
    part.append(element("span", "", "number"), ...[0, 1, 2].map(() => element("span", "", "fact")), element("span", `called, in ${baseName(file)}`, "text"));
    part.title = file;
    rows.push(part, ...Object.entries(lines).map(([line, text]) => row(file, +line, text)));
  }
  box.replaceChildren(head, ...rows);
  const current = box.querySelector(".now");
  if (current) showWithin(box, current);
}
function chooseLine(file, line) {
  const at = accessesOf(state.program).findIndex((access) => { const site = launch().sites[access.site]; return site.file === file && site.line === line; });
  const given = valuesOf(state.program).findIndex((value) => value.file === file && value.line === line);
  if (at >= 0) chooseOperation(at);
  if (given >= 0) chooseValue(given);
}

// ---- Findings: one chooses its program, its operation, and marks the element

function drawFindings() {
  const findings = launch().findings;
  $("findings-part").hidden = !findings.length;
  $("findings").replaceChildren(...findings.slice(0, 200).map((finding) => {
    const button = element("button", `${finding.kind}: ${finding.message} (line ${lineName(finding.file, finding.line)})`, "bug" + (finding === state.finding ? " now" : ""));
    button.addEventListener("click", () => chooseFinding(finding));
    return button;
  }));
  if (findings.length > 200) $("findings").append(element("span", `and ${findings.length - 200} more`, "soft"));
}
// The element that is wrong, counted from the begin of its array; null where the array is not known.
function badElement(finding) {
  const array = launch().arrays.find((one) => one.name === finding.argument);
  return array && finding.address !== undefined ? finding.element ?? Math.floor((finding.address - array.origin) / array.size) : null;
}
function chooseFinding(finding) {
  choose(programAt(finding.program));
  const isIts = (access) => { const site = launch().sites[access.site]; return site.file === finding.file && site.line === finding.line && launch().arrays[access.array]?.name === finding.argument; };
  const its = accessesOf(state.program).map((access, i) => isIts(access) ? i : -1).filter((i) => i >= 0), bad = badElement(finding);
  const op = its.find((i) => expand(accessesOf(state.program)[i].elements ?? []).includes(bad)) ?? its[0] ?? -1;
  chooseOperation(op);
  state.finding = finding;
  drawFindings(); drawArrays(); drawSource();
  document.querySelector("#arrays .marked")?.scrollIntoView({ block: "nearest" });
}
