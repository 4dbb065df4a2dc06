// The elements of feeds that matter: items, their links, titles and dates.
import { type ElementRule, elements, type Part as RulePart, rule, wrapper } from "./element-rule.ts";
import { baseLevels, type FeedReader } from "./feed-reader.ts";

type Rules = Map<string, ElementRule<FeedReader>>;

const item: Rules = new Map([
  ...elements<FeedReader>("rss", {
    title: { text: (reader, text) => reader.setTitle(text) },
    link: {
      isUrl: true,
      open: (reader, attributes) => reader.setBase(baseLevels.link, attributes),
      text: (reader, text) => reader.setLink(text),
    },
    guid: {
      open: (reader, attributes) => reader.beginGuid(attributes),
      isUrl: true,
      isFallback: true,
      text: (reader, text) => reader.setGuid(text),
    },
    description: { isFallback: true, text: (reader, text) => reader.setDescription(text) },
    pubDate: { text: (reader, text) => reader.setPublished(text, "rfc822") },
  }),
  // RSS 1.0 has its dates in modules: https://web.resource.org/rss/1.0/modules/dc/, and that of the qualified terms
  ...elements<FeedReader>("dc", {
    date: { text: (reader, text) => reader.setPublished(text) },
    issued: { text: (reader, text) => reader.setPublished(text) },
    created: { text: (reader, text) => reader.setPublished(text) },
    modified: { text: (reader, text) => reader.setUpdated(text) },
  }),
  ...elements<FeedReader>("atom", { link: { open: (reader, attributes) => reader.addAtomLink(attributes) } }),
]);

// An item, or an entry, as it should be, and inside of elements that nobody knows: misspelled, or not closed.
function listed(children: Rules, isMisplaced: boolean): RulePart<FeedReader> {
  return {
    isEntry: true,
    children,
    open: (reader, attributes) => reader.begin(attributes, isMisplaced),
    close: (reader) => reader.end(),
  };
}

const aroundItems: Rules = new Map();
const anything: ElementRule<FeedReader> = wrapper(aroundItems);
const around = { others: anything, foreign: anything };
const feedLink: Rules = elements("atom", { link: { open: (reader, attributes) => reader.addFeedLink(attributes) } });
const items: Rules = new Map([...elements("rss", { item: listed(item, false) }), ...feedLink]);
// https://www.rssboard.org/rss-1-1: the items stand in an element of their own.
for (const [key, found] of elements<FeedReader>("rss", { items: { children: items, ...around } }))
  items.set(key, found);

const stray = (reader: FeedReader, url: string): void => reader.takeStray(url);

const channel: Rules = elements<FeedReader>("rss", {
  channel: {
    children: items,
    ...around,
    stray,
    open: (reader, attributes) => reader.setBase(baseLevels.channel, attributes),
  },
});
const channels: Rules = new Map([...channel, ...items]);
for (const [key, found] of [...channel, ...elements<FeedReader>("rss", { item: listed(item, true) })]) {
  aroundItems.set(key, found);
}

const entry: Rules = elements("atom", {
  title: { text: (reader, text) => reader.setTitle(text) },
  summary: { isFallback: true, text: (reader, text) => reader.setDescription(text) },
  link: { open: (reader, attributes) => reader.addAtomLink(attributes) },
  updated: { text: (reader, text) => reader.setUpdated(text) },
  modified: { text: (reader, text) => reader.setUpdated(text) },
  published: { text: (reader, text) => reader.setPublished(text) },
  issued: { text: (reader, text) => reader.setPublished(text) },
});
const entries: Rules = elements("atom", { entry: listed(entry, false) });
const inFeed: Rules = new Map([...entries, ...feedLink]);
const aroundEntries: ElementRule<FeedReader> = wrapper(elements("atom", { entry: listed(entry, true) }));

/** RSS 2.0 and 0.9x: items stand in the channel. */
export const rssRule: ElementRule<FeedReader> = rule("rss", { children: channels, ...around });
/** RSS 1.0 and 0.90: items stand beside the channel. */
export const rdfRule: ElementRule<FeedReader> = rule("RDF", { children: channels, ...around, stray });
/** RSS 1.1: the root is the channel. */
export const rss11Rule: ElementRule<FeedReader> = rule("Channel", { children: channels, ...around, stray });
/** An Atom entry can be a document: https://www.rfc-editor.org/rfc/rfc4287#section-2 */
export const entryRule: ElementRule<FeedReader> = rule("entry", { children: new Map([...entry, ...entries]) });
export const atomRule: ElementRule<FeedReader> = rule("feed", {
  children: inFeed,
  others: aroundEntries,
  foreign: aroundEntries,
  stray,
});
