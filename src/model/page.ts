// What a page is: one URL that a sitemap declares, with what the sitemap says about it. Fields without a value are absent.

/** One page, as a sitemap declares it. */
export interface SitemapPage {
  /** As written in the sitemap, after decoding and trimming; resolved if relative, repaired if malformed. */
  readonly url: string;
  /** From 0 to 1, if the sitemap gives it. The protocol's default is 0.5. */
  readonly priority?: number;
  /** ISO 8601, with the offset and precision given in the sitemap; a time without an offset is assumed to be UTC. */
  readonly lastModified?: string;
  readonly changeFrequency?: ChangeFrequency;
  readonly newsStory?: NewsStory;
  readonly images?: readonly SitemapImage[];
  readonly videos?: readonly SitemapVideo[];
  readonly alternates?: readonly AlternatePage[];
}

/** A page of a crawl or a tree. */
export interface ListedPage extends SitemapPage {
  /** The URL of the sitemap that lists it, after redirects. */
  readonly sitemap: string;
}

/** How often a page changes, in the words of the protocol. */
export type ChangeFrequency = "always" | "hourly" | "daily" | "weekly" | "monthly" | "yearly" | "never";

/** A news story: from the news extension, the title and date of a feed item, or the title and section of a link in llms.txt. */
export interface NewsStory {
  readonly title?: string;
  /** ISO 8601, like `lastModified`. */
  readonly publishDate?: string;
  readonly publicationName?: string;
  readonly publicationLanguage?: string;
  /** As written, usually `Subscription` or `Registration`. */
  readonly access?: string;
  readonly genres?: readonly string[];
  readonly keywords?: readonly string[];
  readonly stockTickers?: readonly string[];
  /** For a link in llms.txt: the heading above it. */
  readonly section?: string;
}

/** An image of a page, from the image extension. */
export interface SitemapImage {
  readonly url: string;
  readonly caption?: string;
  readonly geoLocation?: string;
  readonly title?: string;
  readonly license?: string;
}

/** A video of a page, from the video extension. */
export interface SitemapVideo {
  readonly thumbnailUrl?: string;
  readonly title?: string;
  readonly description?: string;
  readonly contentUrl?: string;
  readonly playerUrl?: string;
  readonly playerAllowsEmbed?: boolean;
  /** The `autoplay` parameters of the player. */
  readonly playerAutoplay?: string;
  /** In seconds. */
  readonly duration?: number;
  /** ISO 8601, like `lastModified`. */
  readonly expirationDate?: string;
  /** From 0 to 5. */
  readonly rating?: number;
  readonly viewCount?: number;
  /** ISO 8601, like `lastModified`. */
  readonly publicationDate?: string;
  readonly isFamilyFriendly?: boolean;
  readonly restriction?: VideoRestriction;
  readonly platform?: VideoRestriction;
  readonly prices?: readonly VideoPrice[];
  readonly requiresSubscription?: boolean;
  readonly uploader?: string;
  readonly uploaderUrl?: string;
  readonly isLive?: boolean;
  readonly tags?: readonly string[];
  readonly category?: string;
  readonly galleryUrl?: string;
  readonly galleryTitle?: string;
  readonly contentSegments?: readonly VideoSegment[];
  readonly ids?: readonly VideoId[];
  readonly tvShow?: VideoTvShow;
}

/** In which countries, or on which platforms (web, mobile, tv), a video may or may not be played. */
export interface VideoRestriction {
  readonly relationship?: "allow" | "deny";
  readonly values: readonly string[];
}

/** What a video costs. */
export interface VideoPrice {
  readonly amount?: number;
  /** ISO 4217, as written. */
  readonly currency?: string;
  readonly type?: string;
  readonly resolution?: string;
}

/** A part of a video. */
export interface VideoSegment {
  readonly url: string;
  /** In seconds. */
  readonly duration?: number;
}

/** The TV show that a video belongs to. */
export interface VideoTvShow {
  readonly showTitle?: string;
  /** As written, usually `full`, `preview`, `clip`, `interview`, `news` or `other`. */
  readonly videoType?: string;
  readonly episodeTitle?: string;
  readonly seasonNumber?: number;
  readonly episodeNumber?: number;
  /** ISO 8601, like `lastModified`. */
  readonly premierDate?: string;
}

/** The identifier of a video in a catalog. */
export interface VideoId {
  readonly type?: string;
  readonly value: string;
}

/** A version of the page for a language or region, from the hreflang extension. */
export interface AlternatePage {
  /** As written, such as `de`, `de-CH` or `x-default`. */
  readonly language: string;
  readonly url: string;
}
