"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const W = data.width, H = data.height, N = data.trains.length, STEPS = data.steps;
const [ROW0, COL0, ROWS, COLS] = data.region; // what is drawn of the map
const COMPASS = "NESW", NOWHERE = -1;
const INK = "#17222e", LAND = "#f4f6f1", RASTER = "#e3e8e0", RAILS = "#555f69", BETWEEN = "#dce0de", SLEEPERS = "#b9b3a6";
const PARAPET = "#8a6d3b", PLACE = "#a9b4bf", CHOSEN = "#7a1fa2", STUCK = "#c2185b", SOFT = "#5b6670";
const READY = 1, BROKEN_OFF_MAP = 2, BROKEN = 5, DONE = 6; // states
const ALARM = data.states[BROKEN].color;

// ---- what the page embeds --------------------------------------------------------------------------------------

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const grid = (() => {
  const b = bytes(data.grid), g = new Uint16Array(W * H);
  for (let k = 0; k < g.length; k++) g[k] = b[2 * k] | b[2 * k + 1] << 8;
  return g;
})();
const bridges = new Set(data.bridges);
const shares = data.fractions.map((text) => {
  const [a, b] = text.split("/");
  return b === undefined ? Number(a) : Number(a) / Number(b);
});

// Of each train and step, train by train.
const node = new Int32Array(N * STEPS), state = new Uint8Array(N * STEPS), malfunction = new Int32Array(N * STEPS);
const speed = new Uint32Array(N * STEPS), travelled = new Uint32Array(N * STEPS), deadlocked = new Uint8Array(N * STEPS);
const exits = new Int8Array(N * STEPS); // the direction in which it leaves its cell
(() => {
  const b = bytes(data.runs);
  let p = 0;
  const uvarint = () => {
    let v = 0, f = 1;
    for (;;) {
      const c = b[p++];
      v += (c & 127) * f;
      if (c < 128) return v;
      f *= 128;
    }
  };
  const varint = () => { const v = uvarint(); return v % 2 ? -(v + 1) / 2 : v / 2; };
  for (let i = 0; i < N; i++) {
    let n = -1, s = 0, m = 0, v = 0, d = 0, x = 0;
    for (let k = 0; k < STEPS;) {
      const head = uvarint(), mask = head & 63, end = k + 1 + Math.floor(head / 64);
      m = Math.max(m - 1, 0);
      if (mask & 1) n += varint();
      if (mask & 2) s = uvarint();
      if (mask & 4) m = uvarint();
      if (mask & 8) v = uvarint();
      if (mask & 16) d = uvarint();
      if (mask & 32) x ^= 1;
      for (let first = true; k < end; k++, first = false) {
        const at = i * STEPS + k;
        if (!first) m = Math.max(m - 1, 0);
        node[at] = n; state[at] = s; malfunction[at] = m; speed[at] = v; travelled[at] = d; deadlocked[at] = x;
      }
    }
    let next = NOWHERE;
    for (let k = STEPS - 1; k >= 0; k--) {
      const at = i * STEPS + k, here = node[at];
      if (here === NOWHERE) { next = NOWHERE; continue; }
      if (k + 1 < STEPS && node[at + 1] !== here) next = node[at + 1];
      exits[at] = next === NOWHERE ? usual(here) : next & 3;
    }
  }
})();

const inRegion = (row, col) => row >= ROW0 && row < ROW0 + ROWS && col >= COL0 && col < COL0 + COLS;
function allows(t, into, out) { return t >> (15 - 4 * into - out) & 1; }
function usual(n) {
  const t = grid[n >> 2], into = n & 3;
  if (allows(t, into, into)) return into;
  for (let out = 0; out < 4; out++) if (allows(t, into, out)) return out;
  return into;
}

// ---- tracks, in cells ------------------------------------------------------------------------------------------

const BEND = 0.5522847498;
const SIDES = [[0, -0.5], [0.5, 0], [0, 0.5], [-0.5, 0]];
function links(t) {
  const all = new Map();
  for (let into = 0; into < 4; into++) for (let out = 0; out < 4; out++) {
    if (!allows(t, into, out)) continue;
    const from = into + 2 & 3, a = Math.min(from, out), b = Math.max(from, out);
    all.set(4 * a + b, [a, b]);
  }
  return [...all.values()];
}
function trace(path, x, y, [a, b]) {
  const [ax, ay] = SIDES[a], [bx, by] = SIDES[b], f = 1 - BEND;
  path.moveTo(x + ax, y + ay);
  if (a === b) path.lineTo(x, y);
  else if ((a + 2 & 3) === b) path.lineTo(x + bx, y + by);
  else path.bezierCurveTo(x + ax * f, y + ay * f, x + bx * f, y + by * f, x + bx, y + by);
}
function buffer(path, x, y, a) {
  const [ax, ay] = SIDES[a], ex = x - 0.06 * ax, ey = y - 0.06 * ay;
  path.moveTo(ex - 0.56 * ay, ey + 0.56 * ax);
  path.lineTo(ex + 0.56 * ay, ey - 0.56 * ax);
}
const tracks = new Path2D(), buffers = new Path2D(), over = new Path2D(), decks = new Path2D(), parapets = new Path2D();
for (let k = 0; k < W * H; k++) {
  if (!inRegion(Math.floor(k / W), k % W)) continue;
  const x = k % W + 0.5, y = Math.floor(k / W) + 0.5, all = links(grid[k]);
  for (const l of all) {
    trace(tracks, x, y, l);
    if (l[0] === l[1]) buffer(buffers, x, y, l[0]);
  }
  if (!bridges.has(k)) continue;
  if (all.some(([a, b]) => a === 1 && b === 3)) {
    decks.rect(x - 0.35, y - 0.25, 0.7, 0.5);
    trace(over, x, y, [1, 3]);
  }
  for (const s of [-1, 1]) {
    parapets.moveTo(x - 0.42, y + s * 0.375);
    parapets.lineTo(x - 0.32, y + s * 0.25);
    parapets.lineTo(x + 0.32, y + s * 0.25);
    parapets.lineTo(x + 0.42, y + s * 0.375);
  }
}
const faint = [new Path2D(), new Path2D(), new Path2D()];
function placePath(path, row, col, role) {
  const x = col + 0.5, y = row + 0.5;
  if (role === 0) { path.moveTo(x + 0.4, y); path.arc(x, y, 0.4, 0, 7); }
  else if (role === 1) { path.moveTo(x + 0.47, y); path.lineTo(x, y + 0.47); path.lineTo(x - 0.47, y); path.lineTo(x, y - 0.47); path.closePath(); }
  else path.rect(x - 0.42, y - 0.42, 0.84, 0.84);
}
// places lists the cells of a timetable that are drawn, as [row, column, role, text].
function places(i) {
  const t = data.trains[i], all = [[t.start[0], t.start[1], 0, "S"]];
  t.stops.forEach((s, k) => { for (const p of s.places) all.push([p[0], p[1], 1, String(k + 1)]); });
  all.push([t.target[0], t.target[1], 2, "T"]);
  return all.filter(([row, col]) => inRegion(row, col));
}
{
  const drawn = new Set();
  for (let i = 0; i < N; i++) for (const [row, col, role] of places(i)) {
    const key = (row * W + col) * 3 + role;
    if (!drawn.has(key)) { drawn.add(key); placePath(faint[role], row, col, role); }
  }
}
function drawTracks(c, path, size) {
  const draw = (color, width, dash) => { c.strokeStyle = color; c.lineWidth = width; c.setLineDash(dash || []); c.stroke(path); };
  if (size < 14) { draw(RAILS, Math.max(0.17, 1 / size)); return; }
  draw(SLEEPERS, 0.34, [0.06, 0.08]);
  draw(RAILS, 0.23);
  draw(BETWEEN, 0.12);
}

// ---- the view --------------------------------------------------------------------------------------------------

const map = $("map"), paint = map.getContext("2d"), ground = document.createElement("canvas");
const EDGE = 26;
let size = 10, left = 0, top = 0, ratio = 1, width = 0, height = 0, groundFresh = false;
let now = 0, playing = false, selected = [...data.selected], dirty = true;

function whole() {
  size = Math.max(Math.min((width - EDGE - 8) / COLS, (height - EDGE - 8) / ROWS, 60), 1);
  left = EDGE + (width - EDGE - COLS * size) / 2 - COL0 * size;
  top = EDGE + (height - EDGE - ROWS * size) / 2 - ROW0 * size;
  redrawAll();
}
function zoom(factor, x = width / 2, y = height / 2) {
  const next = Math.min(Math.max(size * factor, 1), 160), f = next / size;
  left = x - (x - left) * f;
  top = y - (y - top) * f;
  size = next;
  redrawAll();
}
function redrawAll() { groundFresh = false; dirty = true; }
function resize() {
  ratio = window.devicePixelRatio || 1;
  const first = width === 0;
  width = map.clientWidth; height = map.clientHeight;
  for (const c of [map, ground]) { c.width = Math.round(width * ratio); c.height = Math.round(height * ratio); }
  if (first) whole(); else redrawAll();
}

function drawGround() {
  const c = ground.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.setTransform(ratio * size, 0, 0, ratio * size, ratio * left, ratio * top);
  c.fillStyle = LAND;
  c.fillRect(COL0, ROW0, COLS, ROWS);
  let every = 1;
  for (every of [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]) if (every * size >= 24) break;
  c.strokeStyle = RASTER;
  c.lineWidth = 0.8 / size;
  c.setLineDash([]);
  c.beginPath();
  const x0 = Math.ceil(COL0 / every) * every, y0 = Math.ceil(ROW0 / every) * every;
  for (let x = x0; x < COL0 + COLS; x += every) { c.moveTo(x, ROW0); c.lineTo(x, ROW0 + ROWS); }
  for (let y = y0; y < ROW0 + ROWS; y += every) { c.moveTo(COL0, y); c.lineTo(COL0 + COLS, y); }
  c.stroke();
  c.strokeStyle = PLACE;
  c.lineWidth = Math.max(0.07, 0.9 / size);
  for (const p of faint) c.stroke(p);
  drawTracks(c, tracks, size);
  c.setLineDash([]);
  c.strokeStyle = INK;
  c.lineWidth = Math.max(0.1, 1.2 / size);
  c.stroke(buffers);
  c.fillStyle = LAND;
  c.fill(decks);
  drawTracks(c, over, size);
  c.setLineDash([]);
  c.strokeStyle = PARAPET;
  c.lineWidth = Math.max(0.07, 1 / size);
  c.stroke(parapets);
  for (const i of selected) for (const [row, col, role] of places(i)) {
    const p = new Path2D();
    placePath(p, row, col, role);
    c.strokeStyle = CHOSEN;
    c.lineWidth = Math.max(0.11, 1.8 / size);
    c.stroke(p);
  }
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  placeBadges(c);
  for (const b of badges) plate(c, b.x, b.y, b.text, b.px, CHOSEN, "#fff");
  const besides = Math.max(left + COL0 * size, EDGE), above = Math.max(top + ROW0 * size, EDGE); // where the numbers are: at the map, but in sight
  c.fillStyle = "#fff";
  c.fillRect(0, 0, width, EDGE);
  c.fillRect(0, 0, EDGE, height);
  c.fillStyle = SOFT;
  c.font = font(10, false);
  c.textAlign = "center";
  for (let x = x0; x < COL0 + COLS; x += every) {
    const at = left + (x + 0.5) * size;
    if (at > besides && at < width) c.fillText(x, at, above - 5);
  }
  c.textAlign = "right";
  for (let y = y0; y < ROW0 + ROWS; y += every) {
    const at = top + (y + 0.5) * size;
    if (at > above && at < height) c.fillText(y, besides - 4, at + 3.5);
  }
  groundFresh = true;
}
function font(px, bold) { return (bold ? "bold " : "") + px + 'px "Liberation Sans", Arimo, Arial, Helvetica, sans-serif'; }
function plateWidth(c, text, px) {
  c.font = font(px, true);
  return c.measureText(text).width + 0.5 * px;
}
function plate(c, x, y, text, px, back, front) {
  c.font = font(px, true);
  const w = plateWidth(c, text, px);
  c.fillStyle = back;
  c.fillRect(x - w / 2, y - 0.62 * px, w, 1.25 * px);
  c.fillStyle = front;
  c.textAlign = "center";
  c.fillText(text, x, y + 0.36 * px);
  return w;
}

// placeBadges lays the badges of the selected trains' places out, a cell's in a row from its top left corner on: smaller
// where there are many, or one with their number where they would be too small to read.
let badges = []; // about x, y
function placeBadges(c) {
  const cells = new Map();
  for (const i of selected) for (const [row, col, , text] of places(i)) {
    const key = row * W + col;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(text);
  }
  badges = [];
  for (let [key, texts] of cells) {
    let px = Math.max(0.36 * size, 10);
    if (texts.length > 1) {
      const total = texts.reduce((sum, text) => sum + plateWidth(c, text, px), 0);
      const smaller = px * Math.min((0.92 - 0.03 * (texts.length - 1)) * size / total, 1);
      if (smaller < 6.5) texts = ["×" + texts.length];
      else px = smaller;
    }
    let x = left + (key % W + 0.08) * size;
    texts.forEach((text, k) => {
      const w = plateWidth(c, text, px);
      if (k > 0) x += w / 2;
      badges.push({ x, y: top + (Math.floor(key / W) + 0.08) * size, w, h: 1.25 * px, px, text });
      x += w / 2 + 0.03 * size;
    });
  }
}
function hides(b, others) {
  let area = 0;
  for (const o of others) {
    const wide = Math.min((b.w + o.w) / 2 - Math.abs(b.x - o.x), b.w, o.w), high = Math.min((b.h + o.h) / 2 - Math.abs(b.y - o.y), b.h, o.h);
    if (wide > 0 && high > 0) area += wide * high;
  }
  return area;
}
// free puts a box at the first of some places if it hides no badge there, or else where it hides least of the badges and
// of what is taken besides.
function free(w, h, taken, places) {
  let best, least = Infinity;
  places.forEach(([x, y], k) => {
    const b = { x, y, w, h };
    let hidden = hides(b, badges);
    if (k > 0 || hidden > 0) hidden += hides(b, taken);
    if (hidden < least) { best = b; least = hidden; }
  });
  return best;
}
// arrange puts the signs of malfunctions where they hide no badge. Those that have to leave their corner make way for
// those that do not.
function arrange(c, broken, sz) {
  const small = 0.3 * sz < 6.5;
  for (const b of broken) {
    b.w = small ? 0.48 * sz : plateWidth(c, b.text, 0.3 * sz);
    b.h = (small ? 0.48 : 0.375) * sz;
    b.x = b.cx + 0.42 * sz; b.y = b.cy - 0.4 * sz;
  }
  const taken = broken.filter((b) => hides(b, badges) === 0);
  for (const b of broken) {
    if (hides(b, badges) === 0) continue;
    const ways = [[0.42, -0.4], [0.42, 0.4], [-0.42, 0.4], [-0.42, -0.4], [0.42, 0.07], [-0.42, 0.07]];
    Object.assign(b, free(b.w, b.h, taken, ways.map(([dx, dy]) => [b.cx + dx * sz, b.cy + dy * sz])));
    taken.push(b);
  }
  return taken;
}

// pose is where a train is drawn, relative to the centre of its cell, in cells.
function pose(n, out, share) {
  const [ax, ay] = SIDES[(n & 3) + 2 & 3], [bx, by] = SIDES[out], turns = ((n & 3) + 2 & 3) === out, h = 1 - BEND;
  const t = turns ? 0.76 + 0.24 * share : 0.38 + 0.24 * share, s = 1 - t;
  let dx, dy, x, y;
  if ((n & 3) === out) { x = ax * (1 - 2 * t); y = ay * (1 - 2 * t); dx = bx; dy = by; }
  else if (turns) { x = ax * s; y = ay * s; dx = -ax; dy = -ay; }
  else {
    const a = s * s * s + 3 * s * s * t * h, b = t * t * t + 3 * s * t * t * h;
    const u = s * s * (h - 1) - 2 * s * t * h, v = 2 * s * t * h + t * t * (1 - h);
    x = ax * a + bx * b; y = ay * a + by * b; dx = ax * u + bx * v; dy = ay * u + by * v;
  }
  const d = Math.hypot(dx, dy);
  return { x, y, dx: dx / d, dy: dy / d };
}
function wedge(c, cx, cy, sz, p, st, empty) {
  const corner = (along, aside) => [cx + (p.x + p.dx * along - p.dy * aside) * sz, cy + (p.y + p.dy * along + p.dx * aside) * sz];
  c.beginPath();
  for (const [a, b] of [[0.34, 0], [0.1, 0.25], [-0.34, 0.25], [-0.34, -0.25], [0.1, -0.25]]) c.lineTo(...corner(a, b));
  c.closePath();
  c.fillStyle = empty ? "#fff" : data.states[st].color;
  c.fill();
  if (empty) { c.strokeStyle = data.states[st].color; c.lineWidth = Math.max(0.07 * sz, 1); c.stroke(); }
  else if (sz >= 14) { c.strokeStyle = "#fff"; c.lineWidth = 0.04 * sz; c.stroke(); }
}
function number(c, cx, cy, sz, p, color, handle) {
  const text = String(handle), px = Math.min(0.38, 0.95 / text.length) * sz;
  if (px < 6.5) return;
  c.font = font(px, true);
  c.textAlign = "center";
  c.fillStyle = color;
  c.fillText(text, cx + (p.x - 0.07 * p.dx) * sz, cy + (p.y - 0.07 * p.dy) * sz + 0.36 * px);
}
function frame(c, cx, cy, sz) {
  c.strokeStyle = STUCK;
  c.lineWidth = Math.max(0.11 * sz, 1.6);
  c.strokeRect(cx - 0.48 * sz, cy - 0.48 * sz, 0.96 * sz, 0.96 * sz);
}
function cross(c, cx, cy, sz) {
  const r = 0.36 * sz;
  c.strokeStyle = ALARM;
  c.lineWidth = sz > 2 ? Math.max(0.12 * sz, 1.6) : 0.12 * sz; // a sign is drawn in cells
  c.beginPath();
  c.moveTo(cx - r, cy - r); c.lineTo(cx + r, cy + r);
  c.moveTo(cx - r, cy + r); c.lineTo(cx + r, cy - r);
  c.stroke();
}
function breakdown(c, x, y, sz, text) {
  if (0.3 * sz < 6.5) {
    for (const [color, r] of [["#fff", 0.24], [ALARM, 0.19]]) { c.fillStyle = color; c.beginPath(); c.arc(x, y, r * sz, 0, 7); c.fill(); }
    return;
  }
  plate(c, x, y, text, 0.3 * sz, ALARM, "#fff");
}

// trainsAt lists the trains shown in a step as [handle, column, row, empty]: those on the map, and of those that are
// ready to enter a free start the first.
function trainsAt(k) {
  const on = [], taken = new Set(), waiting = [];
  for (let i = 0; i < N; i++) {
    const n = node[i * STEPS + k];
    if (n === NOWHERE || !inRegion(Math.floor((n >> 2) / W), (n >> 2) % W)) continue;
    taken.add(n >> 2);
    on.push([i, (n >> 2) % W, Math.floor((n >> 2) / W), false]);
  }
  for (let i = 0; i < N; i++) {
    const s = state[i * STEPS + k], [row, col] = data.trains[i].start;
    if (s !== READY && s !== BROKEN_OFF_MAP || taken.has(row * W + col) || !inRegion(row, col)) continue;
    taken.add(row * W + col);
    waiting.push([i, col, row, true]);
  }
  return waiting.concat(on);
}
function drawTrains() {
  const c = paint, k = now, shown = trainsAt(k);
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, map.width, map.height);
  c.drawImage(ground, 0, 0);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.save();
  c.beginPath();
  c.rect(EDGE, EDGE, width, height);
  c.clip();
  c.setLineDash([]);
  for (const shut of data.closures) {
    if (data.first + k < shut.from || data.first + k >= shut.until) continue;
    for (const cell of shut.cells) {
      const row = Math.floor(cell / W), col = cell % W;
      if (inRegion(row, col)) cross(c, left + (col + 0.5) * size, top + (row + 0.5) * size, size);
    }
  }
  const seen = [];
  for (const [i, col, row, empty] of shown) {
    const x = left + (col + 0.5) * size, y = top + (row + 0.5) * size, at = i * STEPS + k;
    if (x < -size || y < -size || x > width + size || y > height + size) continue;
    const [dx, dy] = SIDES[data.trains[i].start[2]];
    const p = empty ? { x: 0, y: 0, dx: 2 * dx, dy: 2 * dy } : pose(node[at], exits[at], shares[travelled[at]]);
    wedge(c, x, y, size, p, state[at], empty);
    number(c, x, y, size, p, empty ? INK : data.states[state[at]].lettering, i);
    seen.push([i, x, y, at]);
  }
  const broken = [], chosen = seen.filter(([i]) => selected.includes(i)), r = Math.max(0.62 * size, 7);
  for (const [, x, y, at] of seen) {
    if (deadlocked[at]) frame(c, x, y, size);
    if (malfunction[at] > 0 || state[at] === BROKEN || state[at] === BROKEN_OFF_MAP) broken.push({ cx: x, cy: y, text: String(malfunction[at]) });
  }
  for (const [, x, y] of chosen) {
    c.strokeStyle = CHOSEN;
    c.lineWidth = Math.max(0.09 * size, 1.8);
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.stroke();
  }
  const taken = arrange(c, broken, size);
  for (const b of broken) breakdown(c, b.x, b.y, size, b.text);
  for (const [i, x, y] of chosen) {
    const px = Math.min(Math.max(0.36 * size, 11), 18), w = plateWidth(c, String(i), px), aside = r + w / 2, up = 0.5 * size;
    const b = free(w, 1.25 * px, taken, [[x + aside, y - up], [x + aside, y + up], [x - aside, y - up], [x - aside, y + up]]);
    plate(c, b.x, b.y, String(i), px, CHOSEN, "#fff");
  }
  c.restore();
}

// ---- words -----------------------------------------------------------------------------------------------------

function sign(draw) {
  const c = document.createElement("canvas");
  c.width = c.height = 40;
  const p = c.getContext("2d");
  p.scale(2, 2);
  draw(p);
  return c;
}
function item(list, draw, text) {
  const li = document.createElement("li"), span = document.createElement("span");
  span.textContent = text;
  li.append(sign(draw), span);
  list.append(li);
  return span;
}
const EASTWARD = { x: 0, y: 0, dx: 1, dy: 0 };
const tallies = data.states.map((s, k) => item($("tallies"), (c) => wedge(c, 10, 10, 20, EASTWARD, k, k === READY || k === BROKEN_OFF_MAP), ""));
tallies.push(item($("tallies"), (c) => frame(c, 10, 10, 16), ""));
const inCells = (draw) => (c) => { c.scale(18, 18); c.translate(0.555, 0.555); draw(c); };
const ring = (role, color, w) => inCells((c) => { const p = new Path2D(); placePath(p, -0.5, -0.5, role); c.strokeStyle = color; c.lineWidth = w; c.stroke(p); });
item($("legend"), ring(0, PLACE, 0.09), "start");
item($("legend"), ring(1, PLACE, 0.09), "stop");
item($("legend"), ring(2, PLACE, 0.09), "target");
item($("legend"), ring(0, CHOSEN, 0.12), "of a selected train");
item($("legend"), (c) => plate(c, 10, 10, "7", 11, ALARM, "#fff"), "malfunction, steps left");
item($("legend"), inCells((c) => {
  const under = new Path2D(), deck = new Path2D(), walls = new Path2D();
  trace(under, 0, 0, [0, 2]); trace(deck, 0, 0, [1, 3]);
  drawTracks(c, under, 18);
  c.fillStyle = "#fff"; c.fillRect(-0.35, -0.25, 0.7, 0.5);
  drawTracks(c, deck, 18);
  c.setLineDash([]); c.strokeStyle = PARAPET; c.lineWidth = 0.07;
  for (const s of [-1, 1]) { walls.moveTo(-0.42, s * 0.375); walls.lineTo(-0.32, s * 0.25); walls.lineTo(0.32, s * 0.25); walls.lineTo(0.42, s * 0.375); }
  c.stroke(walls);
}), "bridge");
item($("legend"), inCells((c) => {
  const p = new Path2D(), b = new Path2D();
  trace(p, 0, 0, [3, 3]); buffer(b, 0, 0, 3);
  drawTracks(c, p, 18);
  c.setLineDash([]); c.strokeStyle = INK; c.lineWidth = 0.1; c.stroke(b);
}), "dead end");
if (data.closures.length) item($("legend"), inCells((c) => {
  const p = new Path2D();
  trace(p, 0, 0, [1, 3]);
  drawTracks(c, p, 18);
  c.setLineDash([]); cross(c, 0, 0, 1);
}), "closed track");

function tally() {
  const n = new Array(data.states.length + 1).fill(0);
  for (let i = 0; i < N; i++) {
    n[state[i * STEPS + now]]++;
    n[data.states.length] += deadlocked[i * STEPS + now];
  }
  data.states.forEach((s, k) => { tallies[k].textContent = k === DONE ? `${n[k]} of ${N} arrived` : `${n[k]} ${s.name}`; });
  tallies[data.states.length].textContent = n[data.states.length] + " deadlocked";
  $("now").textContent = "step " + (data.first + now) + (data.limit ? " / " + data.limit : "");
}
const where = (row, col, heading) => `(${row}, ${col})` + (heading >= 0 ? " " + COMPASS[heading] : "");
function facts(i) {
  const at = i * STEPS + now, n = node[at], all = [["State", data.states[state[at]].name + (deadlocked[at] ? ", deadlocked" : "")]];
  if (n !== NOWHERE) all.push(["At", where(Math.floor((n >> 2) / W), (n >> 2) % W, n & 3)], ["Travelled", data.fractions[travelled[at]] + " of the cell"]);
  all.push(["Speed", `${data.fractions[speed[at]]}, at most ${data.trains[i].speed}`]);
  if (malfunction[at] > 0) all.push(["Malfunction", malfunction[at] + " steps left"]);
  return all;
}
function timetable(i) {
  const t = data.trains[i], all = [["S start", `${where(...t.start)}, from step ${t.earliest}`]];
  t.stops.forEach((s, k) => all.push([`${k + 1} stop`, `${s.places.map((p) => where(...p)).join(" or ")}, ${s.window}`]));
  all.push(["T target", `${where(...t.target)}, by step ${t.latest}`]);
  return all;
}
function table(rows) {
  const out = document.createElement("table");
  for (const [name, value] of rows) {
    const tr = out.insertRow(), th = document.createElement("th");
    th.textContent = name;
    tr.append(th);
    tr.insertCell().textContent = value;
  }
  return out;
}
let boxes = []; // of the selected trains: [handle, the table that changes with the step]
function details() {
  if (boxes.length !== selected.length || boxes.some(([i], k) => i !== selected[k])) {
    boxes = [];
    $("details").replaceChildren(...selected.map((i) => {
      const box = document.createElement("section"), head = document.createElement("h2"), drop = document.createElement("button");
      head.textContent = "Train " + i;
      drop.textContent = "×";
      drop.title = "No longer select train " + i;
      drop.onclick = () => select(i);
      head.append(drop);
      const changing = table([]);
      boxes.push([i, changing]);
      box.append(head, changing, table(timetable(i)));
      return box;
    }));
  }
  for (const [i, changing] of boxes) changing.replaceChildren(...table(facts(i)).childNodes);
}
function select(i) {
  selected = selected.includes(i) ? selected.filter((k) => k !== i) : [i, ...selected].slice(0, 12);
  redrawAll();
}

// ---- time ------------------------------------------------------------------------------------------------------

function go(k) {
  now = Math.min(Math.max(Math.round(k), 0), STEPS - 1);
  $("time").value = data.first + now;
  dirty = true;
}
function play(on) {
  playing = on && STEPS > 1;
  if (playing && now === STEPS - 1) go(0);
  $("play").textContent = playing ? "Pause" : "Play";
}
let due = 0;
function tick(time) {
  if (playing) {
    const wait = 1000 / Number($("speed").value);
    if (due < time - 1000) due = time; // it was just begun, or the page was out of sight
    const steps = Math.floor((time - due) / wait);
    if (steps > 0) { due += steps * wait; go(now + steps); }
    if (now === STEPS - 1) play(false);
  }
  if (dirty && width > 0) {
    dirty = false;
    if (!groundFresh) drawGround();
    drawTrains();
    tally();
    details();
  }
  requestAnimationFrame(tick);
}

// ---- hands -----------------------------------------------------------------------------------------------------

function under(x, y) {
  const col = Math.floor((x - left) / size), row = Math.floor((y - top) / size);
  const hit = trainsAt(now).filter((t) => t[1] === col && t[2] === row);
  return hit.length ? hit[hit.length - 1][0] : -1;
}
let drag = null;
map.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, y: e.offsetY, moved: false }; map.setPointerCapture(e.pointerId); });
map.addEventListener("pointermove", (e) => {
  const tip = $("tip");
  if (drag) {
    const dx = e.offsetX - drag.x, dy = e.offsetY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag = { x: e.offsetX, y: e.offsetY, moved: true };
    left += dx; top += dy;
    map.classList.add("dragged");
    tip.hidden = true;
    redrawAll();
    return;
  }
  const i = under(e.offsetX, e.offsetY);
  map.classList.toggle("over", i >= 0);
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.textContent = ["Train " + i, ...facts(i).concat(timetable(i)).map(([name, value]) => name + ": " + value)].join("\n");
  tip.style.left = Math.max(Math.min(e.offsetX + 14, width - tip.offsetWidth - 4), 0) + "px";
  tip.style.top = Math.max(Math.min(e.offsetY + 14, height - tip.offsetHeight - 4), 0) + "px";
});
map.addEventListener("pointerup", (e) => {
  if (drag && !drag.moved) { const i = under(e.offsetX, e.offsetY); if (i >= 0) select(i); }
  drag = null;
  map.classList.remove("dragged");
});
map.addEventListener("pointercancel", () => { drag = null; map.classList.remove("dragged"); });
map.addEventListener("pointerleave", () => { $("tip").hidden = true; });
map.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY); }, { passive: false });
$("search").addEventListener("submit", (e) => {
  e.preventDefault();
  const text = $("handle").value.trim(), i = Number(text);
  if (!/^\d+$/.test(text) || i >= N) { $("message").textContent = N ? `There are trains 0 to ${N - 1}.` : "There is no train."; return; }
  if (!selected.includes(i)) select(i);
  else selected = [i, ...selected.filter((k) => k !== i)];
  const n = node[i * STEPS + now], [row, col] = n === NOWHERE ? data.trains[i].start : [Math.floor((n >> 2) / W), (n >> 2) % W];
  $("handle").blur();
  redrawAll();
  if (!inRegion(row, col)) { $("message").textContent = `Train ${i} is outside the part of the map on this page, at ${where(row, col)}.`; return; }
  $("message").textContent = n === NOWHERE ? `Train ${i} is not on the map now; this is its start.` : "";
  size = Math.max(size, 24);
  left = width / 2 - (col + 0.5) * size;
  top = height / 2 - (row + 0.5) * size;
});
$("clear").onclick = () => { selected = []; $("message").textContent = ""; redrawAll(); };
$("begin").onclick = () => { play(false); go(0); };
$("back").onclick = () => { play(false); go(now - 1); };
$("play").onclick = () => play(!playing);
$("forward").onclick = () => { play(false); go(now + 1); };
$("end").onclick = () => { play(false); go(STEPS - 1); };
$("time").min = data.first;
$("time").max = data.first + STEPS - 1;
$("time").oninput = () => { play(false); go(Number($("time").value) - data.first); };
if (ROWS < H || COLS < W) { $("whole").textContent = "Whole region"; $("whole").title = "Zoom out to the region (0)"; }
$("nearer").onclick = () => zoom(1.4);
$("farther").onclick = () => zoom(1 / 1.4);
$("whole").onclick = whole;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target === $("handle") || e.target === $("speed")) return;
  if (e.key === " " && e.target.tagName === "BUTTON") return; // it presses the button
  const stride = e.shiftKey ? 10 : 1;
  const acts = {
    " ": () => play(!playing), ArrowLeft: () => { play(false); go(now - stride); }, ArrowRight: () => { play(false); go(now + stride); },
    Home: () => { play(false); go(0); }, End: () => { play(false); go(STEPS - 1); },
    "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), "0": whole, "/": () => $("handle").focus(),
  };
  if (acts[e.key]) { e.preventDefault(); acts[e.key](); }
});
$("title").textContent = data.title || "Railway";
new ResizeObserver(resize).observe(map);
go(0);
requestAnimationFrame(tick);
})();
