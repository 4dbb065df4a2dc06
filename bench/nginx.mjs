// Serves a generated website with nginx, because many websites use it, and it needs little CPU time beside what is measured.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Serves the files of a directory on loopback, and also `texts(origin)`: files that contain their own address. */
export async function startNginx(directory, texts) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "sitegrove-bench-nginx-"));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const own = path.join(folder, "own");
  mkdirSync(own);
  for (const [name, text] of Object.entries(texts(origin))) writeFileSync(path.join(own, name), text);
  const config = path.join(folder, "nginx.conf");
  writeFileSync(config, configuration({ folder, port, directory, own }));
  const server = spawn("nginx", ["-p", folder, "-c", config, "-e", path.join(folder, "errors")], { stdio: "ignore" });
  const ended = new Promise((resolve) => server.once("exit", resolve).once("error", resolve));
  // The server ends with the benchmark, however that ends.
  const stop = () => server.kill("SIGTERM");
  process.once("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  await listening(port);
  return {
    origin,
    async close() {
      process.off("exit", stop);
      server.kill("SIGQUIT");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function configuration({ folder, port, directory, own }) {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `  ${kind}_temp_path ${path.join(folder, kind)};`,
  );
  return `${process.getuid?.() === 0 ? "user root;\n" : ""}daemon off;
worker_processes 1;
pid ${path.join(folder, "pid")};
events {}
http {
${temporary.join("\n")}
  access_log off;
  sendfile on;
  types { application/xml xml; application/gzip gz; text/plain txt; text/html html; }
  server {
    listen 127.0.0.1:${port};
    root ${directory};
    location = / { root ${own}; try_files /index.html =404; }
    location = /robots.txt { root ${own}; }
    location = /index.xml { root ${own}; }
  }
}
`;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const isUp = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isUp) return;
    await delay(25);
  }
  throw new Error("nginx did not start: is it installed?");
}
