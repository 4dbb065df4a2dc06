// The numbers of the rules, each once. Those of the protocol that the parser needs too are in protocol-limits.ts. Times are milliseconds.

export const bounds = {
  /** Characters of a URL without percent-encoding that Yandex takes. */
  yandexUrlLength: 1024,
  /** Close to the limits of the protocol. */
  nearEntries: 45_000,
  nearBytes: 47_000_000,
  /** Larger documents should be compressed. */
  uncompressedBytes: 1_000_000,
  /** Until the first byte of a sitemap. */
  slow: 5_000,
  /** An index may name an older date than its pages by so much: clocks differ. */
  indexStale: 86_400_000,
  /** Dates of children that are all the same mean something from so many on. */
  indexDates: 10,
  /** A page cannot have changed later than its sitemap was received: clocks and time zones differ by a day at most. */
  future: 86_400_000,
  /** The first web page is from 1991. */
  firstYear: 1991,
  /** A website that lists fewer pages does not list all of itself. */
  homepagePages: 10,
  /** Dates of pages that are all the same mean something from so many on. */
  datedPages: 50,
  /** The share of pages that counts as all of them. */
  nearlyAll: 0.95,
  /** Dates that lie so close to one another were made by one run of a generator. */
  generatedSpread: 60_000,
  generatedAge: 86_400_000,
  /** The share of pages with a date below which dates are missing. */
  datedShare: 0.5,
  /** Two dates of one page that are further apart contradict each other. */
  lastmodConflict: 1_000,
  newsStories: 1000,
  newsAge: 172_800_000,
  /** Without a time of day, the story may be from any hour of the day. */
  newsAgeOfDate: 259_200_000,
  images: 1000,
  /** In seconds. */
  videoDuration: { least: 1, most: 28_800 },
  videoRating: { least: 0, most: 5 },
  videoDescription: 2048,
  videoTags: 32,
  videoUploader: 255,
  /** The Last-Modified of a page may be older than its sitemap says by so much. */
  pageOlder: 2_592_000_000,
  /** Pages of one sample. */
  samplePages: 10_000,
  /** Bytes of a page that are read for its canonical URL and robots tag. */
  pageBytes: 524_288,
} as const;
