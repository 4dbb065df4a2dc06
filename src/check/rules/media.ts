// Rules about news stories, images and videos.

import { registrableDomains } from "../../crawl/page-filter.ts";
import { counted, grouped } from "../../model/figures.ts";
import { hasTime, lastInstant } from "../../model/instant.ts";
import type { NewsStory, SitemapPage, SitemapVideo } from "../../model/page.ts";
import { detached } from "../../model/text.ts";
import { CommonValue } from "../common-value.ts";
import { type CheckRun, type Origin, readOrigin, type SitemapContext } from "../context.ts";
import { bounds } from "./bounds.ts";
import { isNewsLanguage } from "./language-codes.ts";
import { type RuleRows, ruleFor } from "./rule.ts";
import * as sources from "./sources.ts";
import { textHash } from "./url-scan.ts";

const { videoDuration, videoRating } = bounds;

export const mediaRules: RuleRows = {
  "news-too-many": ruleFor(["google"], "error", "engine", sources.news, {
    sentence: `Too many news articles: more than ${grouped(bounds.newsStories)} \`<news:news>\` tags.`,
    fix: "Split the sitemap.",
  }),
  "news-stale": ruleFor(["google"], "warning", "engine", sources.news, {
    sentence: "A news sitemap lists stories older than two days.",
    fix: "Remove them, or their `<news:news>` tags.",
  }),
  "news-incomplete": ruleFor(["google"], "error", "engine", sources.news, {
    sentence: "Missing XML tag: a news story lacks publication name, language, date or title.",
    fix: "Add what is missing.",
    problems: "news-incomplete",
  }),
  "news-date-form": ruleFor(["google"], "error", "engine", sources.news, {
    sentence: "Invalid date: a publication date in a format that Google does not read.",
    fix: "Write a date, or date, time and time zone: `2026-05-31T10:00:00+00:00`.",
    problems: "news-date-form",
  }),
  "news-language": ruleFor(["google"], "error", "engine", sources.news, {
    sentence: "Invalid tag value: the language of a publication is not an ISO 639 code.",
    fix: "Write two or three letters, such as `en`; for Chinese, `zh-cn` or `zh-tw`.",
  }),
  "news-repeated": ruleFor(["google"], "error", "engine", sources.news, {
    sentence:
      "Invalid XML: too many tags. An entry has more than one `<news:news>`, or entries of one URL have different ones.",
    fix: "Keep one.",
    problems: "news-repeated",
  }),
  "news-deprecated": ruleFor(["google"], "info", "engine", sources.news, {
    sentence: "Google no longer documents the news tags access, genres, keywords and stock_tickers.",
    fix: "Remove them.",
  }),
  "image-too-many": ruleFor(["google"], "error", "engine", sources.images, {
    sentence: `A page has more than ${grouped(bounds.images)} images.`,
    fix: "List only the most important images.",
    problems: "limit-images",
  }),
  "image-incomplete": ruleFor(["google"], "error", "engine", sources.images, {
    sentence: "Missing XML tag: an image has no `<image:loc>`.",
    fix: "Give the image a URL, or remove it.",
    problems: "image-incomplete",
  }),
  "image-private-host": ruleFor(["google"], "error", "practice", sources.images, {
    sentence: "An image is on a private host, or on one that looks like staging.",
    fix: "Set the site's public URL in the generator.",
  }),
  "image-other-host": ruleFor(["google"], "info", "engine", sources.images, {
    sentence: "Images are on another host, which should be verified in Search Console.",
    fix: "Verify that host, so that Google reports its image errors.",
  }),
  "image-not-escaped": ruleFor(["google"], "warning", "protocol", sources.protocol("escaping"), {
    sentence: "The URL of an image has characters that must be percent-encoded, such as spaces.",
    fix: "Percent-encode the URL as UTF-8.",
  }),
  "image-is-page": ruleFor(["google"], "warning", "practice", sources.images, {
    sentence: "An image has the URL of its page.",
    fix: "Give the URL of the image file in `<image:loc>`.",
  }),
  "image-placeholder": ruleFor(["google"], "warning", "heuristic", sources.images, {
    sentence: "Most pages have the same image, such as a placeholder or a logo.",
    fix: "Give each page its own image, or none.",
    needs: ["complete"],
  }),
  "image-deprecated": ruleFor(["google"], "info", "engine", sources.images, {
    sentence: "Google dropped the image tags caption, geo_location, title and license in 2022.",
    fix: "Remove them.",
  }),
  "video-incomplete": ruleFor(["google"], "error", "engine", sources.videos, {
    sentence:
      "Missing XML tag: a video has no thumbnail, title or description, or neither content nor player location.",
    fix: "Add what is missing.",
    problems: "video-incomplete",
  }),
  "video-is-page": ruleFor(["google"], "error", "engine", sources.videos, {
    sentence: "Video location and play page location are the same.",
    fix: "Give the media file in `<video:content_loc>`, or the player in `<video:player_loc>`.",
  }),
  "video-field": ruleFor(["google"], "warning", "engine", sources.videos, {
    sentence:
      `Invalid tag value: a video field is out of range (duration ${videoDuration.least} to ${grouped(videoDuration.most)} s, ` +
      `rating ${videoRating.least} to ${videoRating.most}, description ${grouped(bounds.videoDescription)} characters, ` +
      `${bounds.videoTags} tags, uploader ${bounds.videoUploader} characters), or a restriction has no relationship attribute.`,
    fix: "Correct or remove the field.",
    problems: "video-invalid",
  }),
  "video-expired": ruleFor(["google"], "warning", "engine", sources.videos, {
    sentence: "A video has expired; Google no longer shows it.",
    fix: "Remove the video.",
  }),
  "video-deprecated": ruleFor(["google"], "info", "engine", sources.videos, {
    sentence:
      "Google dropped the video tags category, gallery_loc, price and tvshow, and the attributes autoplay and allow_embed, in 2022.",
    fix: "Remove them.",
  }),
  "media-robots-disallowed": ruleFor(["google"], "warning", "engine", sources.videos, {
    sentence: "robots.txt disallows an image, thumbnail, video or player.",
    fix: "Allow it in robots.txt.",
    needs: ["robots"],
  }),
};

export class MediaRules {
  // The number of news stories in the current sitemap. The other fields are about the whole website.
  #stories = 0;
  // The hosts of images. The key is the text before the path.
  readonly #hosts = new Map<string, { readonly origin: Origin | undefined; count: number; readonly first: string }>();
  // The fingerprint of the most common first image of a page, and the URLs of some first images by their fingerprints.
  readonly #commonImage = new CommonValue();
  readonly #imageUrls = new Map<number, string>();
  #pagesWithImages = 0;
  /** Whether images are on too many hosts to compare all of them. */
  areHostsSpent = false;

  begin(): void {
    this.#stories = 0;
  }

  check(page: SitemapPage, context: SitemapContext): void {
    const { url, newsStory, images = [], videos = [] } = page;
    // Items of feeds have stories, too, because that is where their titles and dates are kept.
    if (newsStory !== undefined && context.sitemap.format === "xml") {
      this.#stories += 1;
      checkNews(newsStory, url, context);
    }
    if (images.length > bounds.images) context.findings.add("image-too-many", url, `${images.length} images`);
    for (const image of images) {
      reportDeprecated("image", image, url, context);
      reportBlocked([image.url], url, context);
      this.#checkImage(image.url, url, context);
    }
    const [picture] = images;
    if (picture !== undefined) {
      this.#pagesWithImages += 1;
      this.#commonImage.add(textHash(picture.url));
      if (this.#pagesWithImages <= bounds.datedPages) this.#imageUrls.set(textHash(picture.url), detached(picture.url));
    }
    for (const video of videos) checkVideo(video, url, context);
  }

  #checkImage(image: string, page: string, { findings, run }: SitemapContext): void {
    if (image === page) findings.add("image-is-page", page);
    if (/[ "<>\\^`{|}]/.test(image)) findings.add("image-not-escaped", page, image);
    const start = image.slice(0, image.indexOf("/", 8) < 0 ? undefined : image.indexOf("/", 8));
    let host = this.#hosts.get(start);
    if (host === undefined) {
      if (this.#hosts.size >= mostHosts) {
        this.areHostsSpent = true;
        return;
      }
      host = { origin: readOrigin(start), count: 0, first: detached(page) };
      this.#hosts.set(detached(start), host);
    }
    const { origin } = host;
    if (origin === undefined || origin.host === run.site.homeHost) return;
    if (origin.reach !== "public")
      findings.add("image-private-host", page, image, origin.reach === "staging" ? "warning" : undefined);
    else host.count += 1;
  }

  /** Checks the rules about the whole website, after all pages. `isComplete` is whether everything declared was read. */
  async finish({ findings, tree, site }: CheckRun, isComplete: boolean): Promise<void> {
    const others = [...this.#hosts.values()].filter(({ count }) => count > 0);
    const domainOf = others.length === 0 ? String : await registrableDomains();
    const home = domainOf(nameOf(site.homeHost));
    for (const { origin, count, first } of others) {
      // A domain that is verified in Search Console includes its subdomains.
      if (origin === undefined || domainOf(nameOf(origin.host)) === home) continue;
      findings.count("image-other-host", tree.homepage, 1, {
        url: first,
        value: `${origin.host}: ${counted(count, "image")}`,
      });
    }
    const { value: hash, count } = this.#commonImage.top;
    const pages = this.#pagesWithImages;
    if (!isComplete || pages < bounds.datedPages || count < pages * bounds.placeholderShare) return;
    const value = `${this.#imageUrls.get(hash) ?? "one image"} on ${grouped(count)} of ${counted(pages, "page")}`;
    findings.count("image-placeholder", tree.homepage, 1, { value });
  }

  end({ findings }: SitemapContext): void {
    if (this.#stories > bounds.newsStories) findings.add("news-too-many", undefined, `${this.#stories} stories`);
  }
}

const mostHosts = 1000;

function nameOf(host: string): string {
  return host.replace(/:\d+$/, "");
}

function checkVideo(video: SitemapVideo, page: string, context: SitemapContext): void {
  const { thumbnailUrl, contentUrl, playerUrl, expirationDate } = video;
  const { findings, receivedAt } = context;
  if (contentUrl === page || playerUrl === page) findings.add("video-is-page", page);
  const fault = outOfBounds(video);
  if (fault !== undefined) findings.add("video-field", page, fault);
  if (expirationDate !== undefined && lastInstant(expirationDate) < receivedAt) {
    findings.add("video-expired", page, expirationDate);
  }
  reportDeprecated("video", video, page, context);
  reportBlocked([thumbnailUrl, contentUrl, playerUrl], page, context);
}

function checkNews(story: NewsStory, page: string, context: SitemapContext): void {
  const { publishDate, publicationLanguage } = story;
  const { findings, receivedAt } = context;
  if (publishDate !== undefined) {
    // Google needs at least a day: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap
    if (publishDate.length < "2026-05-31".length) findings.add("news-date-form", page, publishDate);
    const age = receivedAt - Date.parse(publishDate);
    if (age > (hasTime(publishDate) ? bounds.newsAge : bounds.newsAgeOfDate))
      findings.add("news-stale", page, publishDate);
  }
  if (publicationLanguage !== undefined && !isNewsLanguage(publicationLanguage)) {
    findings.add("news-language", page, publicationLanguage);
  }
  reportDeprecated("news", story, page, context);
}

// Reports files that the first crawler may not fetch. Rules for the other crawlers do not affect Google Images and Google Video.
function reportBlocked(urls: readonly (string | undefined)[], page: string, context: SitemapContext): void {
  for (const url of urls) {
    if (url !== undefined && context.run.robots.blocked(url)?.isFirst)
      context.findings.add("media-robots-disallowed", page, url);
  }
}

// The fields that Google no longer reads, and the names of their tags if these differ.
const deprecated = {
  news: ["access", "genres", "keywords", "stockTickers"],
  image: ["caption", "geoLocation", "title", "license"],
  video: ["category", "galleryUrl", "galleryTitle", "prices", "tvShow", "playerAutoplay", "playerAllowsEmbed"],
} as const;
const tags: Readonly<Record<string, string>> = {
  galleryUrl: "video:gallery_loc",
  galleryTitle: "video:gallery_loc",
  prices: "video:price",
  tvShow: "video:tvshow",
  playerAutoplay: "autoplay",
  playerAllowsEmbed: "allow_embed",
};

// Reports the first deprecated field of an item.
function reportDeprecated(kind: keyof typeof deprecated, item: object, page: string, { findings }: SitemapContext) {
  const field = deprecated[kind].find((each) => item[each as keyof typeof item] !== undefined);
  if (field === undefined) return;
  const tag = tags[field] ?? `${kind}:${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
  findings.add(`${kind}-deprecated`, page, tag);
}

function outOfBounds(video: SitemapVideo): string | undefined {
  const { duration = 1, rating = 0, description = "", tags = [], uploader = "", restriction, platform } = video;
  if (duration < videoDuration.least || duration > videoDuration.most) return `duration ${duration}`;
  if (rating < videoRating.least || rating > videoRating.most) return `rating ${rating}`;
  if (description.length > bounds.videoDescription) return `description of ${description.length} characters`;
  if (tags.length > bounds.videoTags) return `${tags.length} tags`;
  if (uploader.length > bounds.videoUploader) return `uploader of ${uploader.length} characters`;
  if (restriction !== undefined && restriction.relationship === undefined) return "restriction without a relationship";
  if (platform !== undefined && platform.relationship === undefined) return "platform without a relationship";
  return undefined;
}
