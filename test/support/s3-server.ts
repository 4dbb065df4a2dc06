// A real S3-compatible server on loopback: moto, from PyPI.
import { type ChildProcess, spawn } from "node:child_process";
import { atEnd } from "./at-end.ts";
import { hasPython, pythonEnvironment } from "./installed.ts";
import { freePort, listening } from "./own-port.ts";

/** The smallest part of an upload in several parts, in bytes. The last part may be smaller. */
export const smallestPart: number = 5 * 2 ** 20;

export const hasS3: boolean = hasPython("flask", "moto");

export interface S3Server {
  /** Environment variables that lead a client to this server. */
  readonly env: Readonly<Record<string, string>>;
  makeBucket(name: string): Promise<void>;
  keys(bucket: string): Promise<string[]>;
  /** The ids of uploads in several parts that were not finished. */
  unfinishedUploads(bucket: string): Promise<string[]>;
  stop(): Promise<void>;
}

// Runs without threads. With them, moto may tell two clients at once that a name is free, which S3 never does.
const oneAtATime = `
import sys
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
`;

export async function startS3(): Promise<S3Server> {
  const port = await freePort();
  const words = ["-c", oneAtATime, String(port)];
  const child: ChildProcess = spawn("python3", words, { env: pythonEnvironment, stdio: "ignore" });
  await listening(port, child);
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once("exit", resolve));
  };
  atEnd(stop);
  return {
    env: {
      AWS_ACCESS_KEY_ID: "key",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: "us-east-1",
    },
    async makeBucket(name) {
      await fetch(`${endpoint}/${name}`, { method: "PUT", headers: authorization });
    },
    async keys(bucket) {
      const text = await (await fetch(`${endpoint}/${bucket}?list-type=2`, { headers: authorization })).text();
      return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = ""]) => key).sort();
    },
    async unfinishedUploads(bucket) {
      const text = await (await fetch(`${endpoint}/${bucket}?uploads`, { headers: authorization })).text();
      return [...text.matchAll(/<UploadId>([^<]+)<\/UploadId>/g)].map(([, id = ""]) => id);
    },
    stop,
  };
}

// moto wants a signature, but does not verify it.
const authorization = {
  authorization: "AWS4-HMAC-SHA256 Credential=key/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
};
