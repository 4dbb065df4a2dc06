// The only script of the report, which is complete without it: it explains the tiles of the map, unpacks the data for
// downloading, and opens everything before printing.

export const script: string = `
(() => {
  "use strict";
  const link = document.getElementById("data");
  const map = document.getElementById("map-tiles");
  const tip = document.getElementById("tip");
  const number = (count) => count.toLocaleString("en-US");
  let tiles = [];

  const unpack = async () => {
    const packed = Uint8Array.from(atob(link.href.split(",")[1]), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const facts = JSON.parse(await new Response(stream).text());
    link.href = URL.createObjectURL(new Blob([JSON.stringify(facts, null, 2)], { type: "application/json" }));
    link.download = link.download.replace(/\\.gz$/, "");
    tiles = [];
    name(facts.sections, "");
  };

  const ages = ["30 days", "90 days", "6 months", "one year", "two years"];
  const aged = (counts) => {
    const dated = counts.slice(0, 6);
    const total = dated.reduce((sum, count) => sum + count, 0);
    if (total <= counts[6]) return "most without a date";
    let sum = 0;
    const median = dated.findIndex((count) => (sum += count) * 2 >= total);
    return median > 4 ? "half of them older than two years" : "half of them changed within " + ages[median];
  };
  const readable = (text) => text.replace(/(?:%[89a-f][0-9a-f])+/gi, (encoded) => {
    try {
      const decoded = decodeURIComponent(encoded);
      return /[\\p{C}\\p{Z}]/u.test(decoded) ? encoded : decoded;
    } catch {
      return encoded;
    }
  });
  const name = (section, above) => {
    const { kind, pages, flawed, sections = [] } = section;
    const path = kind === "other" ? above + "other (" + number(section.count) + ")" : kind === "own" ? above + "*" : above + readable(section.name);
    tiles.push([
      path,
      number(pages) + (pages === 1 ? " page, " : " pages, ") + (pages === 1 ? aged(section.ages).replace("half of them ", "").replace("most ", "") : aged(section.ages)),
      ...(flawed > 0 ? [number(flawed) + " with errors or warnings"] : []),
    ].join("\\n"));
    for (const child of sections) name(child, path === "" ? "" : path + "/");
  };

  if (map && tip) {
    const hide = () => { tip.hidden = true; };
    map.addEventListener("pointermove", (event) => {
      const tile = event.target.closest("[id^=t]");
      const text = tile && tiles[Number(tile.id.slice(1))];
      if (!text) return hide();
      tip.textContent = text;
      tip.hidden = false;
      const box = tip.parentElement.getBoundingClientRect();
      tip.style.left = Math.max(4, Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4)) + "px";
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
  if (typeof DecompressionStream === "function") unpack().catch(() => {});
})();
`;
