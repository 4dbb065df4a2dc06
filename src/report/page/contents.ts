// The content of the sitemaps: hosts, formats, images, videos, news.
import { counted, grouped } from "../../model/figures.ts";
import type { ReportFacts } from "../facts.ts";
import { type Html, html, type Value } from "../html.ts";
import { readableUrl } from "../text.ts";
import { part } from "./words.ts";

export function contentsPart({ hosts, formats, media, figures }: ReportFacts): Html | undefined {
  if (figures.sitemaps === 0) return undefined;
  const { pages } = figures;
  return part(
    "contents",
    "What they hold",
    html`<div class="cards">
${card(
  "Hosts",
  hosts.map(({ name, pages: own, others }) =>
    share(
      others === undefined ? html`<bdi>${readableUrl(name)}</bdi>` : `other (${grouped(others)})`,
      grouped(own),
      own,
      pages,
    ),
  ),
  "no pages",
)}
${card(
  "Formats",
  formats.map(({ format, sitemaps, pages: own }) =>
    share(
      html`${formatNames[format]} <span class="soft">${counted(sitemaps, "sitemap")}</span>`,
      grouped(own),
      own,
      pages,
    ),
  ),
  "no sitemap with pages",
)}
${card(
  "Images, videos, news",
  [
    media.images > 0 &&
      share(
        html`images <span class="soft">on ${counted(media.pagesWithImages, "page")}</span>`,
        grouped(media.images),
        media.pagesWithImages,
        pages,
      ),
    media.videos > 0 &&
      share(
        html`videos <span class="soft">on ${counted(media.pagesWithVideos, "page")}</span>`,
        grouped(media.videos),
        media.pagesWithVideos,
        pages,
      ),
    media.stories > 0 && share("news stories and feed entries", grouped(media.stories), media.stories, pages),
  ],
  "none",
)}
</div>`,
  );
}

const formatNames = { xml: "XML", text: "text", rss: "RSS", atom: "Atom" } as const;

function card(title: string, rows: readonly Value[], nothing: string): Html {
  const shown = rows.filter((row) => row !== false);
  return html`<div class="card"><h3>${title}</h3>${shown.length === 0 ? html`<p class="note">${nothing}</p>` : html`<ul class="shares">${shown}</ul>`}</div>`;
}

function share(name: Value, value: string, pages: number, total: number): Html {
  const width = total === 0 ? 0 : Math.max(0.5, Math.min(100, (pages / total) * 100));
  return html`<li><span>${name}</span><span>${value}</span><svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4"/><rect class="share" width="${Number(width.toFixed(2))}" height="4"/></svg></li>`;
}
