// Sort and filter tables, mark boxes that scroll, copy commands, and print folded parts. The page is complete without this script.
"use strict";

const MANY_ROWS = 12;

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const rows = [...table.tBodies[0].rows];
  // If heads have two rows, the heads of the first columns are in the upper one.
  const before = rows[0].cells.length - heads.length;
  const valueOf = (row, column) => {
    const cell = row.cells[before + column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
  };
  const numberOf = (text) => Number(text.replace("inf", "Infinity"));
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // First click: numbers descending, words ascending; second: reversed; third: the original order.
      const numeric = rows.some((row) => row.cells[before + column].dataset.value !== undefined);
      const turns = numeric ? ["descending", "ascending", null] : ["ascending", "descending", null];
      const turn = turns[(turns.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      const sorted = [...rows];
      if (turn) {
        head.setAttribute("aria-sort", turn);
        const sign = turn === "ascending" ? 1 : -1;
        sorted.sort((one, other) => {
          const [a, b] = [valueOf(one, column), valueOf(other, column)];
          if (!numeric) return sign * a.localeCompare(b);
          if (a === "" || b === "") return (a === "") - (b === "");
          const [x, y] = [numberOf(a), numberOf(b)];
          return sign * (x < y ? -1 : x > y ? 1 : 0); // two infinities have no difference
        });
      }
      table.tBodies[0].append(...sorted);
    });
  });
  if (rows.length < MANY_ROWS) continue;
  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = `Filter ${rows.length} rows`;
  filter.setAttribute("aria-label", filter.placeholder);
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    rows.forEach((row) => (row.hidden = !row.textContent.toLowerCase().includes(wanted)));
  });
  table.closest(".scroll").before(filter);
}

for (const command of document.querySelectorAll("code.command")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "copy";
  button.setAttribute("aria-label", `Copy: ${command.textContent}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(command.textContent);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  command.after(button);
}

// Boxes that are wider than the page say so, and fade at the right edge while there is more.
for (const box of document.querySelectorAll(".scroll")) {
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = "Scroll sideways for the rest →";
  box.before(hint);
  const update = () => {
    box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(box);
  box.querySelectorAll("img").forEach((image) => image.addEventListener("load", update));
}

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((part) => part.setAttribute("open", ""));
});
addEventListener("afterprint", () => folded.forEach((part) => part.removeAttribute("open")));
