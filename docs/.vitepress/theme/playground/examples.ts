// Documents to begin with.
export const examples: Readonly<Record<"sitemap" | "robots", { readonly url: string; readonly text: string }>> = {
  sitemap: {
    url: "https://example.org/sitemap.xml",
    text: `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url><loc>https://example.org/</loc><lastmod>2026-02-30</lastmod></url>
  <url><loc>/relative</loc><changefreq>sometimes</changefreq></url>
  <url><loc>https://example.org/search?a=1&b=2</loc></url>
  <url><loc>https://www.example.org/other-host</loc><priority>0.9</priority></url>
  <url><loc>https://example.org/cut-off</lo
`,
  },
  robots: {
    url: "https://example.org/robots.txt",
    text: `User-agent: *
Disallow: /cart
Site-map: https://example.org/sitemap.xml
Sitemap: /news.xml
`,
  },
};
