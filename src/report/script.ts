// The one script of the page. It adds nothing that is not there without it: it shows what a tile of the map stands for, and opens
// everything before the page is printed.

export const script: string = `
(() => {
  "use strict";
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const map = document.getElementById("map-tiles");
  const tip = document.getElementById("tip");
  if (map && tip) {
    const tiles = [];
    const ages = ["changed within 30 days", "within 90 days", "within 6 months", "within a year", "within two years", "older than two years", "no date"];
    const number = (count) => count.toLocaleString("en-US");
    const visit = (section, above) => {
      const { name, kind, count, pages, flawed, ages: byAge, sections = [] } = section;
      const path = kind === "other" ? above + "other (" + number(count) + ")" : kind === "own" ? above + "*" : above + name + (sections.length || !name.endsWith("?") ? "/" : "");
      const most = byAge.indexOf(Math.max(...byAge));
      tiles.push([path, number(pages) + (pages === 1 ? " page" : " pages") + ", most " + ages[most], ...(flawed ? [number(flawed) + " with problems"] : [])].join("\\n"));
      for (const child of sections) visit(child, path);
    };
    visit(facts.sections, "");
    const hide = () => { tip.hidden = true; };
    map.addEventListener("pointermove", (event) => {
      const tile = event.target.closest("[id^=t]");
      if (!tile || event.pointerType === "touch") return hide();
      tip.textContent = tiles[Number(tile.id.slice(1))] || "";
      tip.hidden = false;
      const box = tip.parentElement.getBoundingClientRect();
      const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4);
      tip.style.left = Math.max(4, left) + "px";
      tip.style.top = event.clientY - box.top + 18 + "px";
    });
    map.addEventListener("pointerleave", hide);
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of opened) each.open = false; });
})();
`;
