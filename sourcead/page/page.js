"use strict";
// Marks what comes from a statement of the function, and what a piece of the generated text comes from.
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const [user, made, notes] = ["user", "made", "notes"].map((id) => document.getElementById(id));
const rows = { user: all("li[tabindex]", user), made: all("li[tabindex]", made) };
let kept = null; // the element whose marks stay

const numbers = (text) => (text ?? "").split(" ").filter(Boolean);
const pieceAt = (element) => element?.closest("[data-unit], [data-of]") ?? element?.closest("#made li")?.querySelector("[data-of]");

function mark(element) {
  const { unit, of, around } = pieceAt(element)?.dataset ?? {};
  const units = numbers(unit ?? of);
  for (const line of rows.user) {
    line.classList.toggle("on", units.includes(line.dataset.unit));
    line.classList.toggle("around", numbers(around).includes(line.dataset.unit));
  }
  for (const { classList, dataset } of all("[data-of]", made)) {
    classList.toggle("on", numbers(`${dataset.of} ${dataset.around ?? ""}`).some((other) => units.includes(other)));
  }
  for (const note of all("[data-note]", notes)) note.hidden = !units.includes(note.dataset.note);
  notes.hidden = !units.length;
  notes.classList.toggle("kept", kept !== null); // until then, what it covers can be pointed at
  if (units.length) show(element.closest("#user") ? made : user);
}

// Scrolls a side, without the page, until something that is marked is seen.
function show(side) {
  const marked = all(".on", side);
  const box = side.getBoundingClientRect();
  const bottom = Math.min(box.bottom, notes.getBoundingClientRect().top);
  const seen = (element) => { const at = element.getBoundingClientRect(); return at.top >= box.top && at.bottom <= bottom; };
  if (marked.length && !marked.some(seen)) side.scrollTop += marked[0].getBoundingClientRect().top - box.top - box.height / 3;
}

function keep(element) {
  kept = element;
  mark(element);
  const sides = user.parentElement.getBoundingClientRect();
  const below = sides.bottom + notes.offsetHeight + 10 - innerHeight; // what the notes would cover
  if (element && below > 0) scrollBy(0, Math.min(below, sides.top));
}

for (const side of [user, made]) {
  side.addEventListener("pointerover", (event) => { if (!kept && event.pointerType === "mouse" && pieceAt(event.target)) mark(event.target); });
  side.addEventListener("pointerleave", () => { if (!kept) mark(document.activeElement?.closest("li")); });
  side.addEventListener("focusin", (event) => { if (!kept && event.target.matches(":focus-visible")) mark(event.target); });
  side.addEventListener("click", (event) => { if (pieceAt(event.target)) keep(event.target); });
  side.addEventListener("keydown", (event) => {
    const lines = rows[side.id], at = lines.indexOf(event.target);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (lines[next]) {
      lines[at]?.setAttribute("tabindex", -1);
      lines[next].setAttribute("tabindex", 0);
      kept = null;
      lines[next].focus();
    } else if (event.key === "Enter") keep(event.target);
    else return;
    event.preventDefault();
  });
  rows[side.id][0]?.setAttribute("tabindex", 0); // Tab goes to one line of each side
}
addEventListener("keydown", (event) => { if (event.key === "Escape") keep(null); });
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  root.style.colorScheme = dark ? "light" : "dark";
});
