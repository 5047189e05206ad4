// The overview follows what happens; other pages say that something did. Text is set as text: nothing that arrives is ever HTML.
"use strict";
const page = document.body.dataset.page;
const number = new Intl.NumberFormat("en-US");
const place = (id) => document.getElementById(id);
const say = (id, text) => {
  const where = place(id);
  if (where && where.textContent !== text) where.textContent = text;
};
const dollars = (usd) => {
  if (usd >= 0.01 || usd === 0) return "$" + usd.toFixed(2);
  return usd >= 0.00005 ? "$" + usd.toFixed(4) : "under $0.0001";
};
const milliseconds = (us) => `${Math.floor(us / 1000)}.${Math.floor((us % 1000) / 100)} ms`;
const cell = (text, kind) => {
  const made = document.createElement("td");
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
};

const follow = (figures) => {
  const { health, money, cache, held } = figures;
  for (const name of ["requests", "eligible", "tokens_saved", "tokens_before"]) say(name, number.format(figures[name]));
  say("acted_on", number.format(health.acted_on));
  say("saved_usd", `${dollars(money.saved_usd_at_least)} to ${dollars(money.saved_usd_at_most)}`);
  say("own_spend", dollars(money.own_spend_usd));
  say("cache_share", `${cache.input_tokens ? Math.floor((cache.read_tokens * 100) / cache.input_tokens) : 0} %`);
  say("input_tokens", number.format(cache.input_tokens));
  say("held_mean", milliseconds(held.mean_us));
  say("held_most", milliseconds(held.most_us));
  say("status", health.status);
  place("status").dataset.status = health.status;
  place("observe").hidden = !figures.observe;
  say("why", health.why.map((why) => why + ".").join(" "));
  if (figures.by_reason.length === 0) return;
  const rows = figures.by_reason.map((row) => {
    const made = document.createElement("tr");
    const requests = cell(number.format(row.requests), "number");
    requests.dataset.label = "requests";
    made.append(cell(row.says, "first"), requests, cell(row.advice || ""));
    return made;
  });
  place("by_reason").replaceChildren(...rows);
};

let first = null;
const announce = (figures) => {
  if (first === null) first = figures.requests;
  if (figures.requests !== first) {
    place("reload").href = location.pathname + location.search;
    place("news").hidden = false;
  }
};

const listener = { overview: follow, conversations: announce, conversation: announce }[page];
if (listener) {
  const events = new EventSource("/epitome/v1/events");
  events.addEventListener("figures", (event) => listener(JSON.parse(event.data)));
  // A page that is left behind holds no connection.
  addEventListener("pagehide", () => events.close());
}
