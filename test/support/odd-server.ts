// A web server that frames its responses in every way there is, right and wrong, over kept connections: extra bytes behind a body, responses
// that nobody asked for, lengths that are wrong, chunks with extensions, interim responses. Each document names its own number, so
// that what came in answer to one URL is never taken for another.
import net from "node:net";
import { streamPages } from "../../src/crawl/crawl.ts";
import { sitemapTreeForHomepage } from "../../src/tree/build.ts";
import { listenOnLoopback } from "./loopback.ts";
import { Random } from "./random.ts";

const documents = 12;

/** Throws if a document is taken for another, or if something is missing silently. */
export async function checkOddServer(number: number): Promise<void> {
  const random = new Random(number);
  const server = net.createServer((socket) => serve(socket, random));
  const home = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  try {
    const options = {
      knownPaths: "never",
      useHomepage: false,
      retries: 1,
      concurrency: 1 + random.below(4),
      timeout: { idle: 2000, firstByte: 2000 },
    } as const;
    await using tree = await sitemapTreeForHomepage(home, options);
    let found = 0;
    for (const sitemap of tree.sitemaps()) {
      if (sitemap.kind !== "pages") continue;
      const own = /(\d+)\.xml$/.exec(sitemap.url)?.[1];
      let pages = 0;
      for await (const { url } of tree.pages(sitemap)) {
        if (!url.endsWith(`/page/${own}/${pages}`)) throw new Error(`${url} came for ${sitemap.url}`);
        pages++;
      }
      if (pages !== 2 && sitemap.complete) throw new Error(`${sitemap.url} has ${pages} pages and is complete`);
      found += pages;
    }
    if (found !== documents * 2 && tree.complete) throw new Error(`complete with ${found} pages`);
    for await (const { url } of streamPages(home, { ...options, onUnreachable: "end" }))
      if (!/\/page\/\d+\/[01]$/.test(url)) throw new Error(url);
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  }
}

const sockets = new Set<net.Socket>();

function serve(socket: net.Socket, random: Random): void {
  sockets.add(socket);
  socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  let asked = "";
  socket.on("data", (data) => {
    asked += data.toString("latin1");
    for (let end = asked.indexOf("\r\n\r\n"); end >= 0; end = asked.indexOf("\r\n\r\n")) {
      const path = asked.split(" ", 2)[1] ?? "/";
      asked = asked.slice(end + 4);
      respond(socket, path, random);
    }
  });
}

function bodyOf(path: string, base: string): string | undefined {
  const all = Array.from({ length: documents }, (_, at) => `${base}/${at}.xml`);
  if (path === "/robots.txt") return `Sitemap: ${base}/index.xml\n`;
  if (path === "/index.xml") {
    return `<sitemapindex>${all.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join("")}</sitemapindex>`;
  }
  const number = /^\/(\d+)\.xml$/.exec(path)?.[1];
  if (number === undefined) return undefined;
  const pages = [0, 1].map((at) => `<url><loc>${base}/page/${number}/${at}</loc></url>`);
  return `<urlset>${pages.join("")}</urlset>`;
}

function respond(socket: net.Socket, path: string, random: Random): void {
  const base = `http://127.0.0.1:${socket.localPort}`;
  const body = bodyOf(path, base);
  if (body === undefined) {
    socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  // The index that leads to all others has no faults.
  const isPlain = !/\d/.test(path) || random.below(3) === 0;
  const other = bodyOf(`/${random.below(documents)}.xml`, base) ?? "";
  const whole = (content: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n${content}`;
  const chunked = (content: string, extension = "") =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}${extension}\r\n${content}\r\n0\r\n\r\n`;
  const forms: (() => [text: string, later?: string | undefined, close?: boolean])[] = [
    () => [whole(body)],
    () => [chunked(body)],
    () => [chunked(body, `;x=${"y".repeat(random.below(400))}`)],
    () => [
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"0".repeat(random.below(12))}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    () => [`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`, undefined, true],
    () => [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${whole(body)}`],
    // Bytes behind a body, and responses that nobody asked for. A moment later only what no answer can be: nobody can tell a late
    // response from the answer to a request that is already out.
    () => [whole(body) + random.pick(["x", "\r\n", "HTTP/1.1 200 OK\r\n", "\0".repeat(99)])],
    () => [whole(body) + whole(other)],
    () => [chunked(body) + chunked(other)],
    () => [whole(body), "garbage"],
    () => [whole(body), "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"],
    // The body is too short, too long, or broken.
    () => [whole(`${body}  `).slice(0, -random.below(body.length)), undefined, true],
    () => [`HTTP/1.1 200 OK\r\nContent-Length: ${random.below(body.length)}\r\n\r\n${body}`],
    () => [`HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
    () => [
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    () => [chunked(body).slice(0, -random.below(body.length)), undefined, true],
    () => [`HTTP/1.1 200 ${"x".repeat(random.below(2000))}\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
    () => ["", undefined, true],
    () => ["garbage\r\n\r\n", undefined, true],
  ];
  const [text, later, close] = isPlain ? [whole(body)] : random.pick(forms)();
  // What nobody asked for comes with what somebody did: a moment later it would be a late response, too.
  const isSplit = !text.includes("HTTP/1.1", 9);
  for (const piece of isSplit ? inPieces(text, random) : [text]) socket.write(piece, "latin1");
  if (later !== undefined) setTimeout(() => socket.write(later), random.below(4));
  if (close) socket.end();
}

function inPieces(text: string, random: Random): string[] {
  if (random.below(2) === 0) return [text];
  const at = random.below(text.length + 1);
  return [text.slice(0, at), text.slice(at)];
}
