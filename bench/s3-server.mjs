// A minimal S3 server for measuring clients. It keeps objects in memory, and supports If-None-Match for writing. Prints its port.
import { createServer } from "node:http";

const objects = new Map();
const server = createServer((request, response) => {
  const { method, url, headers } = request;
  const key = url.split("?")[0];
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const known = objects.get(key);
    if (method === "PUT") {
      if (headers["if-none-match"] && known) return response.writeHead(412).end();
      objects.set(key, Buffer.concat(chunks));
      return response.writeHead(200, { etag: '"1"' }).end();
    }
    if (method === "DELETE") objects.delete(key);
    if (method !== "GET") return response.writeHead(204).end();
    if (known) return response.end(known);
    response.writeHead(404, { "content-type": "application/xml" });
    return response.end("<Error><Code>NoSuchKey</Code><Message>There is no such object</Message></Error>");
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
