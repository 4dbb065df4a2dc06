// Judges the news stories, images and videos of pages.
import type { NewsStory, SitemapImage, SitemapPage, SitemapVideo } from "../model/page.ts";
import { bounds } from "./bounds.ts";
import type { SitemapFindings } from "./findings.ts";
import { firstInstant, hasTime, lastInstant } from "./instant.ts";
import { isNewsLanguage } from "./language-codes.ts";
import type { RobotsAccess } from "./robots-access.ts";
import type { SitemapContext } from "./sitemap-context.ts";

export class MediaRules {
  readonly #robots: RobotsAccess;
  // For the current document.
  #stories = 0;

  constructor(robots: RobotsAccess) {
    this.#robots = robots;
  }

  begin(): void {
    this.#stories = 0;
  }

  see(page: SitemapPage, context: SitemapContext): void {
    const { newsStory, images, videos } = page;
    // In feeds, a story is the title and date of any item.
    if (newsStory !== undefined && context.sitemap.format === "xml") {
      this.#stories += 1;
      judgeNews(newsStory, page.url, context);
    }
    if (images !== undefined) this.#judgeImages(images, page.url, context.findings);
    if (videos !== undefined) for (const video of videos) this.#judgeVideo(video, page.url, context);
  }

  /** The document has ended. */
  end({ findings }: SitemapContext): void {
    const { newsStories } = bounds;
    if (this.#stories <= newsStories) return;
    findings.addMany("news-too-many", this.#stories - newsStories, { value: `${this.#stories} stories` });
  }

  #judgeImages(images: readonly SitemapImage[], page: string, findings: SitemapFindings): void {
    if (images.length > bounds.images) findings.add("image-too-many", page, `${images.length} images`);
    for (const image of images) {
      const old = deprecatedImageFields.find((field) => image[field] !== undefined);
      if (old !== undefined) findings.add("image-deprecated", page, imageTags[old]);
      if (this.#isBlocked(image.url)) findings.add("media-robots-disallowed", page, image.url);
    }
  }

  // Google Images and Google Video show files that other crawlers may not fetch.
  #isBlocked(url: string): boolean {
    return this.#robots.blocked(url)?.isFirst ?? false;
  }

  #judgeVideo(video: SitemapVideo, page: string, { findings, receivedAt }: SitemapContext): void {
    const { thumbnailUrl, contentUrl, playerUrl, expirationDate } = video;
    if (contentUrl === page || playerUrl === page) findings.add("video-is-page", page);
    const fault = outOfBounds(video);
    if (fault !== undefined) findings.add("video-field", page, fault);
    if (expirationDate !== undefined && lastInstant(expirationDate) < receivedAt) {
      findings.add("video-expired", page, expirationDate);
    }
    const old = deprecatedVideoTag(video);
    if (old !== undefined) findings.add("video-deprecated", page, old);
    for (const url of [thumbnailUrl, contentUrl, playerUrl]) {
      if (url !== undefined && this.#isBlocked(url)) findings.add("media-robots-disallowed", page, url);
    }
  }
}

function judgeNews(story: NewsStory, page: string, { findings, receivedAt }: SitemapContext): void {
  const { publishDate, publicationLanguage } = story;
  if (publishDate !== undefined) {
    // https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap: a date at least.
    if (publishDate.length < "2026-05-31".length) findings.add("news-date-form", page, publishDate);
    const age = receivedAt - firstInstant(publishDate);
    if (age > (hasTime(publishDate) ? bounds.newsAge : bounds.newsAgeOfDate))
      findings.add("news-stale", page, publishDate);
  }
  if (publicationLanguage !== undefined && !isNewsLanguage(publicationLanguage)) {
    findings.add("news-language", page, publicationLanguage);
  }
  const { access, genres, keywords, stockTickers } = story;
  const old =
    (access !== undefined && "news:access") ||
    (genres !== undefined && "news:genres") ||
    (keywords !== undefined && "news:keywords") ||
    (stockTickers !== undefined && "news:stock_tickers");
  if (old !== false) findings.add("news-deprecated", page, old);
}

const imageTags = {
  caption: "image:caption",
  geoLocation: "image:geo_location",
  title: "image:title",
  license: "image:license",
} as const;
const deprecatedImageFields = Object.keys(imageTags) as (keyof typeof imageTags)[];

function deprecatedVideoTag(video: SitemapVideo): string | undefined {
  if (video.category !== undefined) return "video:category";
  if (video.galleryUrl !== undefined || video.galleryTitle !== undefined) return "video:gallery_loc";
  if (video.prices !== undefined) return "video:price";
  if (video.tvShow !== undefined) return "video:tvshow";
  if (video.playerAutoplay !== undefined) return "autoplay";
  return video.playerAllowsEmbed === undefined ? undefined : "allow_embed";
}

function outOfBounds(video: SitemapVideo): string | undefined {
  const { duration, rating, description, tags, uploader, restriction, platform } = video;
  const { videoDuration, videoRating, videoDescription, videoTags, videoUploader } = bounds;
  if (duration !== undefined && !isWithin(duration, videoDuration)) return `duration ${duration}`;
  if (rating !== undefined && !isWithin(rating, videoRating)) return `rating ${rating}`;
  if (description !== undefined && description.length > videoDescription) {
    return `description of ${description.length} characters`;
  }
  if (tags !== undefined && tags.length > videoTags) return `${tags.length} tags`;
  if (uploader !== undefined && uploader.length > videoUploader) return `uploader of ${uploader.length} characters`;
  if (restriction !== undefined && restriction.relationship === undefined) return "restriction without a relationship";
  if (platform !== undefined && platform.relationship === undefined) return "platform without a relationship";
  return undefined;
}

function isWithin(value: number, { least, most }: { readonly least: number; readonly most: number }): boolean {
  return value >= least && value <= most;
}
