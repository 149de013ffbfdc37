"use strict";
const SVG = "http://www.w3.org/2000/svg", PERIOD = 1000, POINTS = 60;
const trend = {queries: [], hits: [], p99: []};
let before = null;

/* All text goes in as text, so no figure can become markup. */
function el(name, attributes, ...children) {
  const svg = ["svg", "rect", "path", "polyline", "title"].includes(name);
  const made = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}
const show = (id, ...children) => document.getElementById(id).replaceChildren(...children);

function time(us) {
  if (!us) return "–";
  if (us < 1000) return us + " µs";
  if (us < 1e6) return (us / 1000).toFixed(us < 1e4 ? 2 : us < 1e5 ? 1 : 0) + " ms";
  const s = Math.floor(us / 1e6);
  if (s < 60) return (us / 1e6).toFixed(1) + " s";
  if (s < 3600) return Math.floor(s / 60) + " m " + s % 60 + " s";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " m";
  return Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h";
}
function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < 3; unit++) bytes /= 1024;
  return bytes.toFixed(unit && bytes < 100 ? 1 : 0) + " " + units[unit];
}
const number = n => n.toLocaleString("en", {maximumFractionDigits: n < 10 ? 1 : 0});

function spark(points) {
  const most = Math.max(...points, 1e-9);
  const at = points.map((p, i) => (i * 100 / (POINTS - 1)).toFixed(1) + "," + (30 - 28 * p / most).toFixed(1));
  return el("svg", {viewBox: "0 0 100 32", preserveAspectRatio: "none", "aria-hidden": "true"},
    el("polyline", {points: at.join(" ")}));
}
function tile(name, value, points) {
  return el("div", {class: "tile"}, el("span", {}, name), el("b", {}, value), points ? spark(points) : null);
}
function push(list, value) {
  list.push(value);
  if (list.length > POINTS) list.shift();
}

function tiles(now) {
  const queries = d => d.queries_udp + d.queries_tcp + d.queries_tls + d.queries_https;
  let rate = 0, share = now.hits + now.misses ? now.hits / (now.hits + now.misses) : 0;
  if (before && now.uptime_us > before.uptime_us && queries(now) >= queries(before)) {
    rate = (queries(now) - queries(before)) * 1e6 / (now.uptime_us - before.uptime_us);
    const hits = now.hits - before.hits, misses = now.misses - before.misses;
    if (hits + misses > 0) share = hits / (hits + misses);
    push(trend.queries, rate);
    push(trend.hits, share);
    push(trend.p99, now.upstream_latency.p99_us);
  }
  show("tiles",
    tile("queries per second", number(rate), trend.queries),
    tile("hits", (share * 100).toFixed(1) + " %", trend.hits),
    tile("upstream answers, 99 %", time(now.upstream_latency.p99_us), trend.p99),
    tile("upstream answers, median", time(now.upstream_latency.p50_us)),
    tile("waiting clients, 99 %", time(now.answer_latency.p99_us)),
    tile("queries that met no ready connection", number(now.cold_queries)),
    tile("cache", size(now.cache_bytes) + " / " + size(now.cache_limit_bytes)));
}

/* A nail is worn away from its tip while its connection carries queries; the next one is ready then. */
function nail(conn) {
  const used = conn.max_requests ? Math.min(1, conn.requests / conn.max_requests) : 0;
  const note = conn.state === "resting" ? "again in " + time(conn.due_us) : "for " + time(conn.age_us);
  return el("div", {class: "nail " + conn.state + (conn.nailed ? "" : " loose")},
    el("svg", {viewBox: "0 0 120 34", role: "img", "aria-label": conn.state},
      el("title", {}, "worker " + conn.worker + ", " + conn.requests + " of " + conn.max_requests + " queries"),
      el("rect", {class: "head", x: 2, y: 3, width: 8, height: 28, rx: 2.5}),
      el("path", {class: "shaft", d: "M10 12h92l16 5-16 5H10z"}),
      el("rect", {class: "wear", x: 10 + 108 * (1 - used), y: 11, width: 108 * used, height: 12})),
    el("b", {}, conn.state), " " + note,
    el("em", {}, number(conn.requests) + " queries" + (conn.in_flight ? ", " + conn.in_flight + " in flight" : "")),
    conn.last_close ? el("em", {}, "last close: " + conn.last_close) : null);
}

function board(now) {
  const planks = new Map();
  for (const conn of now.connections) {
    const key = conn.address + " " + conn.transport;
    if (!planks.has(key)) planks.set(key, []);
    planks.get(key).push(conn);
  }
  const ready = now.connections.filter(conn => conn.state === "ready").length;
  show("legend", ready + " of " + now.connections.length + " connections ready" +
    (now.left_out ? ", " + now.left_out + " more not shown" : ""));
  if (!planks.size) {
    show("board", el("div", {class: "plank none"}, "no connections to upstreams"));
    return;
  }
  show("board", ...[...planks.values()].map(conns => el("div", {class: "plank"},
    el("div", {class: "who"}, el("b", {}, conns[0].address),
      el("i", {}, conns[0].transport + ", " + (conns[0].rtt_us ? "answers in " + time(conns[0].rtt_us) : "not asked yet"))),
    el("div", {class: "nails"}, ...conns.map(nail)))));
}

function upstreams(now) {
  const heads = ["upstream", "health", "ready", "in flight", "queries", "timeouts", "failed dials", "answer time"];
  const rows = now.upstreams.map(u => {
    const time_us = Math.max(u.stream_answer_us, u.udp_answer_us);
    const health = u.ill ? "ill" : u.resting_connections && !u.ready_connections ? "resting" : "good";
    return el("tr", {}, el("td", {}, u.address + " " + u.transport),
      el("td", {class: health === "good" ? "good" : "ill"}, health),
      ...[u.ready_connections, u.in_flight, u.queries_total, u.timeouts_total, u.dial_failures_total]
        .map(n => el("td", {}, number(n))),
      el("td", {}, time(time_us)));
  });
  show("upstreams", el("tr", {}, ...heads.map(head => el("th", {}, head))), ...rows);
}

function bounds(now) {
  const items = now.bounds.map(bound => el("li", {}, el("span", {}, bound.what), el("b", {}, number(bound.count))));
  show("bounds", ...(items.length ? items : [el("li", {}, "none")]));
}

async function turn() {
  const pulse = document.getElementById("pulse");
  try {
    const answer = await fetch("board.json", {cache: "no-store"});
    if (!answer.ok) throw new Error("HTTP " + answer.status);
    const now = await answer.json();
    tiles(now);
    board(now);
    upstreams(now);
    bounds(now);
    show("about", "version " + now.version + ", up " + time(now.uptime_us) + ", " + now.workers + " workers");
    before = now;
    pulse.className = "live";
    pulse.textContent = "live";
  } catch (error) {
    pulse.className = "lost";
    pulse.textContent = "no answer from nailupd";
  }
  setTimeout(turn, PERIOD);
}
turn();
