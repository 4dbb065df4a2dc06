// The elements of feeds that matter: items, their links, titles and dates.
import { type ElementRule, elements, rule } from "./element-rule.ts";
import type { FeedReader } from "./feed-reader.ts";

type Rules = Map<string, ElementRule<FeedReader>>;

const item: Rules = new Map([
  ...elements<FeedReader>("rss", {
    title: { text: (reader, text) => reader.setTitle(text) },
    link: { isUrl: true, text: (reader, text) => reader.setLink(text) },
    guid: {
      open: (reader, attributes) => reader.beginGuid(attributes),
      isUrl: true,
      text: (reader, text) => reader.setGuid(text),
    },
    description: { text: (reader, text) => reader.setDescription(text) },
    pubDate: { text: (reader, text) => reader.setPublished(text, "rfc822") },
  }),
  // RSS 1.0 has its dates in a module: https://web.resource.org/rss/1.0/modules/dc/
  ...elements<FeedReader>("dc", { date: { text: (reader, text) => reader.setPublished(text) } }),
]);

const items: Rules = elements("rss", {
  item: { children: item, open: (reader) => reader.begin(), close: (reader) => reader.end() },
});
for (const [key, found] of items) item.set(key, found);

const channels: Rules = new Map([...elements<FeedReader>("rss", { channel: { children: items } }), ...items]);

const entry: Rules = elements("atom", {
  title: { text: (reader, text) => reader.setTitle(text) },
  summary: { text: (reader, text) => reader.setDescription(text) },
  link: { open: (reader, attributes) => reader.addAtomLink(attributes) },
  updated: { text: (reader, text) => reader.setUpdated(text) },
  modified: { text: (reader, text) => reader.setUpdated(text) },
  published: { text: (reader, text) => reader.setPublished(text) },
  issued: { text: (reader, text) => reader.setPublished(text) },
});
const entries: Rules = elements("atom", {
  entry: { children: entry, open: (reader) => reader.begin(), close: (reader) => reader.end() },
});
for (const [key, found] of entries) entry.set(key, found);

/** RSS 2.0 and 0.9x: items stand in the channel. */
export const rssRule: ElementRule<FeedReader> = rule("rss", { children: channels });
/** RSS 1.0 and 0.90: items stand beside the channel. */
export const rdfRule: ElementRule<FeedReader> = rule("RDF", { children: channels });
export const atomRule: ElementRule<FeedReader> = rule("feed", { children: entries });
