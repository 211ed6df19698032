// Roofline: operations a byte against operations a second, under the device's limits. Names are put where nothing else is.

const LABEL = 44; // letters of a name that are shown

// Finds room for labels between what is drawn already: rectangles [left, top, right, bottom], all within `bounds`.
function roomFor(bounds) {
  const taken = [], meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return {
    take: (box) => { taken.push(box); },
    // The first of the places (x, y of the middle of a label so large) that is free; null where none is.
    find(places, width, height) {
      for (const [x, y] of places) {
        const box = [x - width / 2 - 2, y - height / 2, x + width / 2 + 2, y + height / 2];
        if (box[0] < bounds[0] || box[1] < bounds[1] || box[2] > bounds[2] || box[3] > bounds[3] || taken.some((other) => meets(box, other))) continue;
        taken.push(box);
        return [x, y];
      }
      return null;
    },
  };
}
// Beside a dot, and on rings around it.
const placesBeside = (x, y, width) => [[x + width / 2 + 10, y], [x - width / 2 - 10, y], [x, y - 15], [x, y + 15]];
function placesAround(x, y, width) {
  const found = [];
  for (const far of [26, 42, 62, 86, 114]) for (const turn of [-0.25, 0.25, -0.75, 0.75, -0.5, 0.5, 0, 1]) {
    const [across, down] = [Math.cos(turn * Math.PI), Math.sin(turn * Math.PI)];
    found.push([x + across * (far + (Math.abs(across) > 0.1 ? width / 2 : 0)), y + down * far]);
  }
  return found;
}
function drawRoofline() {
  const device = Object.values(Object.values(profile.devices ?? other?.devices ?? {})[0] ?? {})[0], svg = d3.select("#roofline");
  svg.selectAll("*").remove();
  const dots = byName(tree).filter((row) => isWanted(row) && row.time && row.bytes && row.flops).sort((a, b) => b.time - a.time)
    .map((row) => ({ name: row.name, x: row.flops / row.bytes, y: row.flops / row.time }));
  if (!device?.peak_gbps) { $("roofline-note").textContent = "the device's peaks are not in the file"; return; }
  $("roofline-note").textContent = dots.length ? "" : "no frame has time, bytes and flops";
  const bandwidth = device.peak_gbps, peaks = new Map(); // GFLOP/s -> widths
  for (const width of [64, 32, 16, 8]) if (device["peak_flops" + width]) { const peak = device["peak_flops" + width] / 1e9; peaks.set(peak, [...(peaks.get(peak) ?? []), width]); }
  const highest = d3.max([...peaks.keys()]), width = pageWidth(), height = Math.max(360, Math.min(520, width * 0.4)), left = 64, right = 20, top = 16, bottom = 40;
  const lowX = Math.min(0.05, ...dots.map((dot) => dot.x / 2)), highX = Math.max(highest / bandwidth * 8, ...dots.map((dot) => dot.x * 2));
  const x = d3.scaleLog([lowX, highX], [left, width - right]), y = d3.scaleLog([Math.min(bandwidth * lowX, ...dots.map((dot) => dot.y / 2)), highest * 2], [height - bottom, top]);
  svg.attr("width", width).attr("height", height);
  const axis = (group, place, made) => svg.append("g").attr("class", group).attr("transform", place).call(made);
  axis("grid", `translate(0,${height - bottom})`, d3.axisBottom(x).ticks(6).tickSize(top + bottom - height).tickFormat(""));
  axis("grid", `translate(${left},0)`, d3.axisLeft(y).ticks(6).tickSize(left + right - width).tickFormat(""));
  axis("axis", `translate(0,${height - bottom})`, d3.axisBottom(x).ticks(6, "~g"));
  axis("axis", `translate(${left},0)`, d3.axisLeft(y).ticks(6, "~g"));
  svg.append("text").attr("x", width - right).attr("y", height - 6).attr("text-anchor", "end").text("operations a byte");
  svg.append("text").attr("x", left).attr("y", 11).text("GFLOP/s");

  const room = roomFor([left, top, width - right + 2, height - bottom]), high = 15;
  // Writes a text at the first of the places that is free; gives what is written and its width, or null.
  const write = (parent, text, kind, places) => {
    const label = parent.append("text").attr("class", kind).attr("text-anchor", "middle").attr("dominant-baseline", "central").text(text), wide = label.node().getComputedTextLength();
    const at = room.find(places(wide), wide, high);
    if (!at) { label.remove(); return null; }
    label.attr("x", at[0]).attr("y", at[1]);
    return { label, at, wide };
  };
  // A line from what is named to a name that stands apart, below all names.
  const leaders = svg.append("g"), lead = (x1, y1, x2, y2) => leaders.append("line").attr("class", "leader").attr("x1", x1).attr("y1", y1).attr("x2", x2).attr("y2", y2 + Math.sign(y1 - y2) * 7);
  for (const dot of dots) room.take([x(dot.x) - 6, y(dot.y) - 6, x(dot.x) + 6, y(dot.y) + 6]);
  // A limit's line is taken up in pieces: labels stand beside it.
  const diagonal = (from, to) => { for (let at = x(from); at < x(to); at += 6) { const over = y(bandwidth * x.invert(at)); room.take([at, over - 1, at + 6, over + 1]); } };
  diagonal(lowX, highest / bandwidth);
  for (const peak of peaks.keys()) room.take([x(peak / bandwidth), y(peak) - 1, width - right, y(peak) + 1]);
  for (const [peak, widths] of peaks) {
    svg.append("path").attr("class", "limit").attr("d", d3.line().x((point) => x(point[0])).y((point) => y(point[1]))([[lowX, bandwidth * lowX], [peak / bandwidth, peak], [highX, peak]]));
    const written = write(svg, `${number(peak)} GFLOP/s, ${widths.join(" and ")} bits`, "of-limit", (wide) => {
      const most = width - right - 4 - wide / 2, least = Math.min(most, x(peak / bandwidth) + wide / 2 + 8);
      return [9, 24, 40, 56, 72, 88, 104].flatMap((far) => d3.range(0, 1.01, 0.125).flatMap((part) => [-far, far + 1].map((down) => [most + (least - most) * part, y(peak) + down])));
    });
    if (written && Math.abs(written.at[1] - y(peak)) > 12) lead(written.at[0], y(peak), ...written.at);
  }
  write(svg, `${number(bandwidth)} GB/s`, "of-limit", (wide) => d3.range(0.05, 0.95, 0.05).flatMap((part) => { const at = x.range()[0] + (x(highest / bandwidth) - left) * part; return [[at - wide / 2 - 8, y(bandwidth * x.invert(at))], [at + wide / 2 + 10, y(bandwidth * x.invert(at)) + 6]]; }));
  const kernels = svg.selectAll(".kernel").data(dots).join("g").attr("class", "kernel"), short = (name) => name.length > LABEL ? name.slice(0, LABEL - 1) + "…" : name;
  const named = (group, dot, places) => write(group, short(dot.name), "of-kernel", (wide) => places(x(dot.x), y(dot.y), wide));
  const crowded = kernels.filter(function (dot) { return !named(d3.select(this), dot, placesBeside); });
  let unnamed = 0;
  crowded.each(function (dot) {
    const [px, py] = [x(dot.x), y(dot.y)], written = named(d3.select(this), dot, placesAround);
    if (!written) { unnamed++; return; }
    const { at: [middle, over], wide } = written;
    lead(px, py, Math.max(middle - wide / 2, Math.min(middle + wide / 2, px)), over);
  });
  kernels.append("circle").attr("class", "dot").attr("cx", (dot) => x(dot.x)).attr("cy", (dot) => y(dot.y)).attr("r", 5.5).attr("fill", (dot) => colour(dot.name)).attr("tabindex", 0).attr("aria-label", (dot) => dot.name)
    .on("mousemove", (dot) => tip(d3.event, `${dot.name}: ${number(dot.y)} GFLOP/s at ${number(dot.x)} operations a byte`)).on("mouseleave", () => tip(d3.event, ""));
  if (unnamed) $("roofline-note").textContent = `${unnamed} without a name for want of room: point at a dot`;
}
