// Serves many small websites on loopback. Each has its own address, `127.x.y.z`, a robots.txt, a sitemap of a few pages and a homepage.
// Every response takes a while, as over a network; websites at 127.200.y.z never respond. Writes directly to sockets, so that it needs
// little CPU time beside what is measured. Prints its port, and exits when its standard input ends.
//   fleet-server.mjs LATENCY PAGES
import { createServer } from "node:net";

const [latency = 80, pages = 10] = process.argv.slice(2).map(Number);

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => {});
  // The server listens on every address, because there are thousands, but accepts only connections to loopback.
  if (!socket.localAddress?.startsWith("127.")) return void socket.destroy();
  if (socket.localAddress?.startsWith("127.200.")) return;
  let text = "";
  socket.on("data", (data) => {
    text += data.toString("latin1");
    for (let end = text.indexOf("\r\n\r\n"); end !== -1; end = text.indexOf("\r\n\r\n")) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      const path = head.slice(4, head.indexOf(" ", 4));
      const host = /\r\nhost: ([^\r]*)/i.exec(head)?.[1] ?? "";
      setTimeout(() => socket.write(answer(path, `http://${host}`)), latency);
    }
  });
});

function answer(path, origin) {
  switch (path) {
    case "/robots.txt":
      return ok("text/plain", `User-agent: *\nSitemap: ${origin}/sitemap.xml\n`);
    case "/sitemap.xml":
      return ok("application/xml", sitemap(origin));
    case "/":
      return ok("text/html", "<!doctype html><title>A website</title><h1>A website</h1>\n");
    default:
      return "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nNot found\n";
  }
}

function ok(type, body) {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function sitemap(origin) {
  const urls = Array.from(
    { length: pages },
    (_, page) =>
      `  <url>\n    <loc>${origin}/page-${page}.html</loc>\n    <lastmod>2024-05-0${(page % 9) + 1}</lastmod>\n  </url>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join("")}</urlset>\n`;
}

server.listen(0, "0.0.0.0", 4096, () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once("end", () => process.exit());
