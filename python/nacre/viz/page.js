// The page of launches: its state, the list of launches, what is chosen. All parts are drawn from DATA.
const state = { launch: 0, program: 0, op: -1, value: 0, finding: null, timer: null };
const launch = () => DATA.launches[state.launch];
const number = (x) => typeof x === "string" ? x : Number.isSafeInteger(x) ? x.toLocaleString("en") : Number.isFinite(x) ? Number(x).toPrecision(4) : String(x);
const bytes = (x) => d3.format(x < 1000 ? "d" : ".3~s")(x) + "B";
const several = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;
// Scrolls a box, not the page, to what is in it.
function showWithin(box, inner) {
  const [outer, at] = [box, inner].map((one) => one.getBoundingClientRect());
  if (at.top < outer.top + 24 || at.bottom > outer.bottom) box.scrollTop += at.top - outer.top - box.clientHeight / 2;
}
const element = (tag, text, name) => { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; if (name) made.className = name; return made; };

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

// ---- Launches

// [loaded, stored, lanes, enabled] of all programs.
const totals = (owner) => owner.totals ?? d3.range(4).map((i) => d3.sum(owner.programs, (row) => row[i]));
function sums(owner) {
  const [loaded, stored, lanes, enabled] = totals(owner), [, where] = owner.launched_at.match(/^(.*?:\d+)(?: in .*)?$/) ?? [null, owner.launched_at];
  return { kernel: owner.kernel, findings: owner.findings.length, "written at": `${baseName(owner.file)}:${owner.first_line}`, "launched at": baseName(where), grid: owner.grid.join(" × "),
    loaded: bytes(loaded), stored: bytes(stored), masked: percent(lanes - enabled, lanes), "time watched": duration(Math.round(owner.seconds * 1e9)) };
}
function drawAll() {
  const table = $("all"), rows = DATA.launches.map(sums), names = Object.keys(rows[0] ?? {}), head = element("tr"), title = { "written at": "file", "launched at": "launched_at" };
  head.append(element("th", "launch"), ...names.map((name) => element("th", name)));
  table.replaceChildren(head, ...rows.map((values, i) => {
    const row = element("tr");
    row.append(element("td", i), ...names.map((name) => { const cell = element("td", values[name], name === "findings" && values[name] ? "bug" : ""); if (title[name]) cell.title = DATA.launches[i][title[name]]; return cell; }));
    row.tabIndex = 0;
    row.addEventListener("click", () => selectLaunch(i));
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") selectLaunch(i); });
    return row;
  }));
  $("launches-note").textContent = DATA.launches_left_out ? `${number(DATA.launches_left_out)} later ones are left out; --kernel NAME chooses` : "";
}
function drawComparison() {
  const box = $("compare"), other = $("other").value;
  box.replaceChildren();
  if (other === "") return;
  const a = sums(launch()), b = sums(DATA.launches[+other]), table = element("table"), head = element("tr");
  for (const text of ["", `launch ${state.launch}`, `launch ${other}`]) head.append(element("th", text));
  table.append(head);
  for (const name of Object.keys(a)) {
    const row = element("tr");
    for (const text of [name, a[name], b[name]]) row.append(element("td", text));
    table.append(row);
  }
  box.append(table);
}

// ---- Choosing

function drawProgram() { drawOperations(); drawArrays(); drawValues(); drawSource(); drawFindings(); }
// A program. What is shown of it stays: all its operations, or the one that was shown of the program before.
function choose(program) {
  const keyAt = (groups, at) => { const group = groupOf(groups, at); return group && [group.key, group.indices.indexOf(at)]; };
  const same = (groups, was) => { const group = was && groups.find((one) => one.key === was[0]); return group ? group.indices[was[1]] ?? group.indices[0] : undefined; };
  const op = keyAt(accessGroups(state.program), state.op), value = keyAt(valueGroups(state.program), state.value);
  state.program = Math.max(0, Math.min(programCount() - 1, program));
  state.finding = null;
  state.op = same(accessGroups(state.program), op) ?? -1;
  state.value = same(valueGroups(state.program), value) ?? 0;
  if (state.op < 0 && $("show").value === "op") $("show").value = "program";
  drawGrid(); drawAxes(); drawProgram();
}
function stop() { clearInterval(state.timer); state.timer = null; $("play").textContent = "play"; }
function play() {
  let i = 0;
  $("play").textContent = "stop";
  state.timer = setInterval(() => { const order = launch().order; if (i >= order.length) stop(); else choose(order[i++]); }, 120);
}
function selectLaunch(i) {
  if (state.timer) stop();
  Object.assign(state, { launch: i, program: 0, op: -1, value: 0, finding: null });
  $("launch").value = i;
  if ($("show").value === "op") $("show").value = "program";
  for (const [k, row] of [...$("all").rows].entries()) row.className = k === i + 1 ? "now" : "";
  showWithin($("all").parentElement, $("all").rows[i + 1]);
  const owner = launch(), constants = Object.entries(owner.constants).map(([name, value]) => `${name}=${value}`).join(", ");
  $("facts").textContent = [`grid ${owner.grid.join(" × ")}`, constants, `launched at ${owner.launched_at}`].filter(Boolean).join(" · ") +
    (owner.device ? ` · ran on ${owner.device}` : "") + (owner.note ? ` · ${owner.note}` : owner.device ? ", recorded on the CPU" : "") +
    (programCount() && programCount() < owner.grid.reduce((a, b) => a * b, 1) ? ` · sums are those of its first ${number(programCount())} programs` : "") +
    (owner.step > 1 ? ` · accesses kept of every ${owner.step}th program` : "") + (owner.left_out ? ` · ${owner.left_out} accesses summed up only` : "");
  makeAxes(); drawGrid(); drawAxes(); drawGpu(); drawProgram(); drawComparison();
}
function start() {
  if (!DATA.launches.length) { $("facts").textContent = "no kernel was launched"; return; }
  for (const owner of DATA.launches) if (typeof owner.source === "number") owner.source = DATA.sources[owner.source];
  $("other").append(new Option("none", ""));
  DATA.launches.forEach((owner, i) => { for (const id of ["launch", "other"]) $(id).append(new Option(`${i}: ${owner.kernel}`, i)); });
  const on = (id, event, act) => $(id).addEventListener(event, act);
  on("launch", "change", () => selectLaunch(+$("launch").value));
  on("other", "change", drawComparison);
  on("colour", "change", drawGrid);
  on("show", "change", () => $("show").value === "program" ? chooseOperation(-1) : $("show").value === "op" ? chooseOperation(Math.max(0, state.op)) : drawArrays());
  on("value", "change", drawArrays);
  on("layout", "change", chooseLayout);
  on("layout-numbers", "change", drawLayout);
  on("op-all", "click", () => chooseOperation(-1));
  on("grid", "click", (event) => { const program = programUnder(event); if (program >= 0) choose(program); });
  on("grid", "mousemove", (event) => { const program = programUnder(event); tip(event, program < 0 ? "" : `program (${place(program)}): ${COLOURS[$("colour").value].text(gridValue(program))}`); });
  on("grid", "mouseleave", (event) => tip(event, ""));
  on("grid", "keydown", (event) => {
    const [columns] = gridShape(), by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (by) { event.preventDefault(); choose(state.program + by); }
  });
  on("play", "click", () => state.timer ? stop() : play());
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawGrid(); drawArrays(); } });
  drawAll();
  selectLaunch(0);
}
start();
