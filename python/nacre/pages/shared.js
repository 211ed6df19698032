// What the tools' pages have in common: numbers as text, the tip beside the pointer, colours.
"use strict";
const $ = (id) => document.getElementById(id);
const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + "%" : "–";
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const heat = d3.scaleSequential(d3.interpolateBlues).domain([-0.08, 1]).clamp(true); // [0, 1] from light to dark

// A time given in nanoseconds.
function duration(ns) {
  if (ns === undefined || ns === null) return "–";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (Math.abs(ns) >= size) return `${(ns / size).toFixed(3)} ${unit}`;
  return `${Number(ns.toFixed(3))} ns`;
}

function tip(event, text) {
  const box = $("tip");
  box.style.display = text ? "block" : "none";
  if (!text) return;
  box.textContent = text;
  box.style.left = Math.max(0, Math.min(event.clientX + 12, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 4)) + "px";
}

// A canvas of so many of the page's pixels, sharp on any screen; gives its context, whose unit is the page's pixel.
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}
