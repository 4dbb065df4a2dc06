// Generated from src/check/rules/ by `npm run tables`.

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The id of a rule that is built in. Configurations and baselines name it. */
export type RuleId =
  | Words<"sitemap-none robots-unreachable robots-too-large robots-sitemap-spelling robots-sitemap-relative robots-no-sitemap sitemap-undeclared sitemap-robots-disallowed sitemap-unreachable sitemap-challenge sitemap-redirect sitemap-redirect-broken sitemap-slow sitemap-served-as-html sitemap-cut-off sitemap-compression sitemap-not-compressed">
  | Words<"robots-preference-invalid robots-preference-misplaced robots-preference-conflict llms-differs">
  | Words<"sitemap-is-html sitemap-unsupported sitemap-empty sitemap-not-well-formed sitemap-leading-text sitemap-namespace sitemap-not-utf8 sitemap-too-large sitemap-too-many-urls sitemap-near-limit index-too-many-sitemaps index-nested index-mixed index-cycle index-child-other-site index-child-outside-directory index-child-repeated index-lastmod-stale index-lastmod-identical feed-unsupported feed-as-only-sitemap text-sitemap-name text-sitemap-junk">
  | Words<"url-missing url-tag-repeated url-not-absolute url-invalid url-too-long url-too-long-yandex url-escaped-twice url-www-mismatch url-other-host url-other-scheme url-outside-directory url-private-host url-robots-disallowed url-credentials url-fragment url-session-id url-tracking-parameter url-not-escaped url-percent-invalid url-percent-twice url-not-normal url-double-slash url-asset url-utility url-duplicate url-repeated url-variants url-lastmod-conflict homepage-unlisted">
  | Words<"lastmod-invalid lastmod-form lastmod-no-offset lastmod-future lastmod-zero lastmod-all-identical lastmod-generated lastmod-missing lastmod-date-only priority-invalid changefreq-invalid priority-ignored">
  | Words<"news-too-many news-stale news-incomplete news-date-form news-language news-repeated news-deprecated image-too-many image-incomplete image-deprecated video-incomplete video-is-page video-field video-expired video-deprecated media-robots-disallowed">
  | Words<"hreflang-code hreflang-region hreflang-not-absolute hreflang-incomplete hreflang-language-twice hreflang-no-self hreflang-no-return hreflang-return-differs hreflang-target-unlisted hreflang-no-default hreflang-no-catchall">
  | Words<"page-unreachable page-missing-file page-not-listed page-redirect page-redirect-stub page-noindex page-canonical-other page-hreflang-differs page-lastmod-older">;
