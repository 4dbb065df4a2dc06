// Creates pages with a few fixed shapes: objects of one shape are cheaper to make and to read.
import { type ChangeFrequency, defaultPriority, type SitemapPage } from "../model/page.ts";
import type { Draft } from "./urlset-reader.ts";

export type PageDraft = Draft<SitemapPage> & Pick<SitemapPage, "url" | "priority">;

export function withPriority(
  url: string,
  priority: number,
  lastModified: string | undefined,
  changeFrequency: ChangeFrequency | undefined,
): PageDraft {
  if (lastModified === undefined) {
    if (changeFrequency === undefined) return { url, priority, priorityGiven: true };
    return { url, priority, priorityGiven: true, changeFrequency };
  }
  if (changeFrequency === undefined) return { url, priority, priorityGiven: true, lastModified };
  return { url, priority, priorityGiven: true, lastModified, changeFrequency };
}

export function withoutPriority(
  url: string,
  lastModified: string | undefined,
  changeFrequency: ChangeFrequency | undefined,
): PageDraft {
  const priority = defaultPriority;
  if (lastModified === undefined) {
    return changeFrequency === undefined ? { url, priority } : { url, priority, changeFrequency };
  }
  if (changeFrequency === undefined) return { url, priority, lastModified };
  return { url, priority, lastModified, changeFrequency };
}
