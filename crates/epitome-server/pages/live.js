// The overview follows what happens. Text is set as text: nothing that arrives is ever HTML.
"use strict";
if (document.body.dataset.page === "overview") {
  const number = new Intl.NumberFormat("en-US");
  const say = (id, text) => {
    const place = document.getElementById(id);
    if (place && place.textContent !== text) place.textContent = text;
  };
  const cell = (text, kind) => {
    const made = document.createElement("td");
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const events = new EventSource("/epitome/v1/events");
  events.addEventListener("figures", (event) => {
    const figures = JSON.parse(event.data);
    for (const name of ["requests", "tokens_saved", "tokens_before"]) say(name, number.format(figures[name]));
    say("acted_on", number.format(figures.health.acted_on));
    say("status", figures.health.status);
    document.getElementById("status").dataset.status = figures.health.status;
    say("why", figures.health.why.map((why) => why + ".").join(" "));
    if (figures.by_reason.length === 0) return;
    const rows = figures.by_reason.map((row) => {
      const made = document.createElement("tr");
      made.append(
        cell(row.action), cell(row.reason.replaceAll("_", " ")), cell(number.format(row.requests), "number"), cell(row.advice || ""),
      );
      return made;
    });
    document.getElementById("by_reason").replaceChildren(...rows);
  });
}
