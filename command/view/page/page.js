"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  // All that comes from the data becomes text, never markup.
  const make = (tag, names, text) => {
    const made = document.createElement(tag);
    if (names) made.className = names;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const seconds = (ms) => ms < 10 ? ms.toFixed(1) + " ms" : ms < 1000 ? Math.round(ms) + " ms" :
    ms < 60000 ? (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s" : Math.floor(ms / 60000) + " min " + Math.round(ms % 60000 / 1000) + " s";
  const size = (n) => !n ? "" : n < 1e6 ? Math.ceil(n / 1000) + " kB" : n < 1e9 ? (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB" : (n / 1e9).toFixed(1) + " GB";
  const kinds = { ask: "asked for versions", read: "read and verified", fetch: "downloaded, and unpacked meanwhile", unpack: "the rest unpacked", link: "linked", done: "in its place" };
  const spent = (row, what) => row.spans.filter((s) => s.what === what).reduce((sum, s) => sum + s.to - s.from, 0);
  const begin = (row) => Math.min(...row.spans.map((s) => s.from), data.took);
  const end = (row) => Math.max(...row.spans.map((s) => s.to), 0);
  const busy = (row) => Object.keys(kinds).reduce((sum, what) => sum + spent(row, what), 0);
  const outcome = (row) => (row.outcome || "not finished") + (row.how ? " (" + row.how + ")" : "");
  const orders = {
    start: (a, b) => begin(a) - begin(b) || end(a) - end(b),
    time: (a, b) => busy(b) - busy(a),
    bytes: (a, b) => (b.bytes || 0) - (a.bytes || 0),
    name: (a, b) => a.name < b.name ? -1 : 1,
  };

  const head = () => {
    const status = at("status");
    status.textContent = data.failed ? "failed" : "succeeded";
    status.classList.toggle("bad", data.failed);
    document.title = "tfdeps init: " + status.textContent + " in " + seconds(data.took);
    at("about").textContent = [data.directory, data.product, "tfdeps " + data.tfdeps, data.platform, new Date(data.began).toLocaleString()].join(" \u00b7 ");
    const providers = data.rows.filter((r) => r.kind === "provider"), modules = data.rows.length - providers.length;
    const count = (name) => providers.filter((r) => r.outcome === name).length;
    const bytes = providers.reduce((sum, r) => sum + (r.came || 0), 0);
    const slowest = [...data.rows].sort(orders.time)[0];
    const tile = (value, text) => {
      const made = make("div", "tile");
      made.append(make("b", "", value), make("span", "", text));
      at("tiles").append(made);
    };
    tile(seconds(data.took), "in all");
    const parts = [["fetched", "fetched"], ["linked", "linked from the cache"], ["present", "already here"], ["overridden", "overridden"], ["failed", "failed"]]
      .filter(([name]) => count(name)).map(([name, text]) => count(name) + " " + text);
    tile(String(providers.length), (providers.length === 1 ? "provider" : "providers") + (parts.length ? ": " + parts.join(", ") : ""));
    if (modules) tile(String(modules), modules === 1 ? "module fetched" : "modules fetched");
    if (bytes) tile(size(bytes), "downloaded");
    if (slowest && busy(slowest) > 0) tile(seconds(busy(slowest)), "most time: " + slowest.name);
    for (const p of data.problems) {
      const box = make("div", "problem " + (p.severity === "warning" ? "warning" : ""));
      box.append(make("b", "", p.summary), make("pre", "", p.detail));
      at("problems").append(box);
    }
  };

  const ticks = () => {
    const raw = Math.max(data.took, 1) / 6, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
    const all = [];
    for (let t = 0; t <= data.took; t += step) all.push(t);
    return [all, step];
  };

  const chart = () => {
    const scale = (ms) => 100 * ms / Math.max(data.took, 1) + "%";
    const [marks, step] = ticks(), all = at("chart");
    all.replaceChildren();
    const row = (names, name) => {
      const made = make("div", "row" + names), lane = make("div", "lane");
      lane.style.backgroundSize = scale(step) + " 100%";
      made.append(name, lane);
      all.append(made);
      return [made, lane];
    };
    const [, axis] = row(" axis", make("div", "name", data.rows.length + (data.rows.length === 1 ? " row" : " rows")));
    for (const t of marks) {
      const mark = make("span", "tick", t === 0 ? "0" : data.took >= 1000 ? +(t / 1000).toPrecision(6) + " s" : +t.toPrecision(6) + " ms");
      mark.style.left = scale(t);
      axis.append(mark);
    }
    if (!data.rows.length) all.append(make("div", "", "Nothing was asked or fetched.")).id = "empty";
    for (const r of [...data.rows].sort(orders[at("sort").value])) {
      const name = make("div", "name", r.name);
      if (r.version) name.append(make("small", "", r.version));
      const [made, lane] = row(r.outcome === "failed" ? " bad" : "", name);
      made.title = [r.name + " " + (r.version || ""), outcome(r), r.source && "from " + r.source, r.bytes && size(r.bytes),
        ...r.spans.filter((s) => s.what !== "done").map((s) => kinds[s.what] + ": " + seconds(s.to - s.from) + ", from " + seconds(s.from) + " on"), r.error]
        .filter(Boolean).join("\n");
      for (const s of r.spans) {
        const drawn = make("span", "span " + (kinds[s.what] ? s.what : ""));
        drawn.style.left = scale(s.from);
        if (s.what !== "done") drawn.style.width = scale(s.to - s.from);
        lane.append(drawn);
      }
      const tag = make("span", "tag" + (r.outcome === "failed" ? " failed" : ""), r.outcome === "failed" ? "failed" : size(r.bytes) || r.outcome || "not finished");
      tag.style.left = scale(end(r));
      lane.append(tag);
    }
  };

  const figures = () => {
    const table = at("figures"), titles = make("tr");
    const columns = [
      ["Name", (r) => r.name, 2], ["Version", (r) => r.version || ""], ["Outcome", outcome], ["Size", (r) => size(r.bytes), 1],
      ["Asked", (r) => spent(r, "ask"), 1], ["Read", (r) => spent(r, "read"), 1], ["Downloaded", (r) => spent(r, "fetch"), 1], ["Unpacked", (r) => spent(r, "unpack"), 1], ["Linked", (r) => spent(r, "link"), 1],
      ["Rate", (r) => r.came && spent(r, "fetch") ? size(r.came / spent(r, "fetch") * 1000) + "/s" : "", 1],
      ["Trust", (r) => r.trust || ""], ["Source", (r) => r.error || r.source || "", 2],
    ].filter(([, value]) => data.rows.some(value));
    for (const [title, , kind] of columns) titles.append(make("th", kind === 1 ? "number" : "", title));
    table.append(make("thead"), make("tbody"));
    table.tHead.append(titles);
    for (const r of [...data.rows].sort(orders.start)) {
      const line = make("tr", r.outcome === "failed" ? "failed" : "");
      for (const [, value, kind] of columns) {
        const v = value(r);
        line.append(make("td", kind === 1 ? "number" : kind === 2 ? "long" : "", typeof v === "number" ? (v ? seconds(v) : "") : v));
      }
      table.tBodies[0].append(line);
    }
  };

  for (const [what, text] of Object.entries(kinds)) {
    if (!data.rows.some((r) => r.spans.some((s) => s.what === what))) continue;
    const item = make("li");
    item.append(make("i", what), text);
    at("legend").append(item);
  }
  at("sort").addEventListener("change", chart);
  head();
  chart();
  figures();
})();
