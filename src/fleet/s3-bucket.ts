// A bucket of an S3-compatible store. Objects are published only under names that do not exist yet (`If-None-Match: *`): if two processes
// publish the same name, one learns that it came second. https://docs.aws.amazon.com/AmazonS3/latest/API/
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { missingPackage } from "./optional-package.ts";

/** `exists`: the object exists already, and is unchanged. */
export type Published = "created" | "exists";

type Body = Uint8Array<ArrayBuffer> | string;

interface Sent {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
  /** Expected statuses besides 2xx. */
  readonly expected?: readonly number[];
}

type Credentials = Pick<AwsClient, "accessKeyId" | "secretAccessKey"> & { readonly sessionToken?: string };

interface BucketParts {
  readonly client: AwsClient;
  /** Asked for each request: those of a role expire. */
  readonly credentials: () => Promise<Credentials>;
  readonly base: string;
  readonly prefix: string;
  readonly partSize: number;
}

export class S3Bucket {
  /** `s3://bucket/prefix`, without a slash at its end. */
  readonly address: string;
  readonly #parts: BucketParts;

  private constructor(address: string, parts: BucketParts) {
    this.address = address;
    this.#parts = parts;
  }

  /** Region and endpoint come from the usual variables; credentials, too, or from `@aws-sdk/credential-providers`. Throws a `SitemapError` if something is missing. */
  static async open(
    address: string,
    environment: NodeJS.ProcessEnv = process.env,
    partSize: number = smallestPart,
  ): Promise<S3Bucket> {
    const { bucket, prefix } = bucketAddress(address);
    const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = environment;
    const credentials = await credentialsOf(environment);
    const region = AWS_REGION || AWS_DEFAULT_REGION || "us-east-1";
    const endpoint = AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL;
    if (endpoint && !/^https?:\/\//.test(endpoint))
      throw invalid("AWS_ENDPOINT_URL must begin with http:// or https://");
    const base = endpoint
      ? `${endpoint.replace(/\/+$/, "")}/${bucket}`
      : bucket.includes(".")
        ? `https://s3.${region}.amazonaws.com/${bucket}`
        : `https://${bucket}.s3.${region}.amazonaws.com`;
    const missing = missingPackage("s3:// needs aws4fetch: npm install aws4fetch");
    const { AwsClient: Client } = await import("aws4fetch").catch(missing);
    const client = new Client({ ...(await credentials()), region, service: "s3", retries: 0 });
    const whole = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
    return new S3Bucket(whole, { client, credentials, base, prefix, partSize });
  }

  /** Checks that the bucket exists and honors `If-None-Match`. */
  async inspect(): Promise<void> {
    const key = "sitegrove.txt";
    await this.put(key, "Outputs of sitegrove. The summaries list the valid files.\n");
    if ((await this.put(key, "-")) === "exists") return;
    await this.delete(key);
    throw failure(`${this.address} cannot be used: it does not honor If-None-Match`);
  }

  async put(key: string, body: Body, type = "application/octet-stream"): Promise<Published> {
    const headers = { "if-none-match": "*", "content-type": type };
    const { status } = await this.#send("PUT", key, { body, headers, expected: [412] });
    return status === 412 ? "exists" : "created";
  }

  async replace(key: string, body: string): Promise<void> {
    await this.#send("PUT", key, { body });
  }

  /** Uploads a file, in parts if it is large. One part is held in memory. */
  async upload(key: string, file: string): Promise<Published> {
    const handle = await open(file, "r");
    try {
      const { size } = await handle.stat();
      const partSize = Math.max(this.#parts.partSize, Math.ceil(size / mostParts));
      const part = Buffer.allocUnsafe(Math.min(size, partSize));
      const read = async (at: number) => part.subarray(0, (await handle.read(part, 0, part.length, at)).bytesRead);
      if (size <= partSize) return await this.put(key, await read(0));
      const begun = await this.#send("POST", key, { query: "uploads=" });
      const id = encodeURIComponent(textOf(await begun.text(), "UploadId"));
      const parts: string[] = [];
      try {
        for (let at = 0; at < size; at += partSize) {
          const number = parts.length + 1;
          const query = `partNumber=${number}&uploadId=${id}`;
          const { headers } = await this.#send("PUT", key, { query, body: await read(at) });
          parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>${headers.get("etag") ?? ""}</ETag></Part>`);
        }
        return await this.#complete(key, id, parts);
      } catch (error) {
        // An unfinished upload would be kept, and charged for.
        await this.#abort(key, id).catch(() => undefined);
        throw error;
      }
    } finally {
      await handle.close();
    }
  }

  async get(key: string): Promise<string | undefined> {
    const response = await this.#send("GET", key, { expected: [404] });
    const text = await response.text();
    return response.status === 404 ? undefined : text;
  }

  /** Downloads to a file. False if the object does not exist. */
  async download(key: string, file: string): Promise<boolean> {
    const response = await this.#send("GET", key, { expected: [404] });
    if (response.status === 404 || response.body === null) return false;
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(file));
    return true;
  }

  async delete(key: string): Promise<void> {
    await this.#send("DELETE", key, { expected: [404] });
  }

  /** The names that begin so. */
  async list(start: string): Promise<string[]> {
    const names: string[] = [];
    const prefix = [this.#parts.prefix, start].filter((part) => part !== "").join("/");
    for (let token = ""; ; ) {
      const more = token === "" ? "" : `&continuation-token=${encodeURIComponent(token)}`;
      const query = `list-type=2${more}&prefix=${encodeURIComponent(prefix)}`;
      const answer = await (await this.#send("GET", undefined, { query })).text();
      for (const [, key = ""] of answer.matchAll(/<Key>([^<]*)<\/Key>/g))
        names.push(decoded(key).slice(prefix.length - start.length));
      token = textOf(answer, "NextContinuationToken");
      if (token === "") return names;
    }
  }

  async #complete(key: string, id: string, parts: readonly string[]): Promise<Published> {
    const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    const headers = { "if-none-match": "*", "content-type": "application/xml" };
    const query = `uploadId=${id}`;
    const ended = await this.#send("POST", key, { query, body, headers, expected: [412, 404] });
    const answer = await ended.text();
    if (ended.status === 412) await this.#abort(key, id);
    // 404: the answer to the first try was lost; the upload is complete, and the file exists.
    if (ended.status >= 400) return "exists";
    if (answer.includes("<Error>")) throw failure(`${this.address}: ${textOf(answer, "Message")}`);
    return "created";
  }

  async #abort(key: string, id: string): Promise<void> {
    await this.#send("DELETE", key, { query: `uploadId=${id}`, expected: [404] });
  }

  /** Without a key, it is about the bucket. */
  async #send(method: string, key: string | undefined, sent: Sent): Promise<Response> {
    const { client, credentials, base, prefix } = this.#parts;
    const { query, headers, body = "", expected = [] } = sent;
    const path = key === undefined ? "" : [prefix, key].filter((part) => part !== "").join("/");
    const url = `${base}/${path.split("/").map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
    // The store refuses data that was changed in transit.
    const digest = createHash("sha256").update(body).digest("hex");
    const init = { method, headers: { ...headers, "x-amz-content-sha256": digest }, ...(body === "" ? {} : { body }) };
    const ask = async () => {
      const signal = AbortSignal.timeout(requestTime);
      return fetch(await client.sign(url, { ...init, aws: await credentials(), signal }));
    };
    for (let attempt = 1; ; attempt += 1) {
      const answer: Response | Error = await ask().catch((error: Error) => error);
      if (answer instanceof Response && (answer.ok || expected.includes(answer.status))) return answer;
      const isTemporary =
        !(answer instanceof Response) || [408, 409, 429].includes(answer.status) || answer.status >= 500;
      if (!isTemporary || answer instanceof SitemapError || attempt === mostAttempts) throw await this.#failed(answer);
      await (answer instanceof Response ? answer.body?.cancel() : undefined);
      await sleep(Math.min(10_000, 200 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }

  async #failed(answer: Response | Error): Promise<Error> {
    if (answer instanceof Error) {
      const { cause } = answer as { cause?: { code?: string; message?: string } };
      return failure(`${this.address} cannot be reached: ${cause?.message || cause?.code || answer.message}`, answer);
    }
    const text = await answer.text().catch(() => "");
    const code = textOf(text, "Code");
    const reason = reasons[code] ?? (textOf(text, "Message") || `status ${answer.status}`);
    return failure(`${this.address}: ${reason}${code === "" ? "" : ` (${code})`}`);
  }
}

async function credentialsOf(environment: NodeJS.ProcessEnv): Promise<() => Promise<Credentials>> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment;
  const needed = "s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment";
  if (accessKeyId) {
    if (!secretAccessKey) throw invalid(needed);
    return async () => ({ accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) });
  }
  const missing = missingPackage(`${needed}; for profiles, roles and SSO: npm install @aws-sdk/credential-providers`);
  // @ts-expect-error It is large, and only those install it who need it.
  const { fromNodeProviderChain } = await import("@aws-sdk/credential-providers").catch(missing);
  const provider: () => Promise<Credentials> = fromNodeProviderChain();
  return () =>
    provider().catch((error: unknown) => {
      throw failure(`No credentials for s3://: ${error instanceof Error ? error.message : String(error)}`, error);
    });
}

/** Whether `--out` or `--dataset` names a bucket. */
export function isBucket(place: string | undefined): place is string {
  return place !== undefined && /^s3:/i.test(place);
}

/** Throws a `SitemapError` (`invalid-option`). */
export function bucketAddress(address: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = "", prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9._-]{1,254})(?:\/(.*))?$/i.exec(address) ?? [];
  const parts = prefix.split("/").filter((part) => part !== "");
  if (bucket === "" || parts.some((part) => part === "." || part === ".."))
    throw invalid(`Expected s3://BUCKET/PREFIX, got ${address.slice(0, 100)}`);
  return { bucket, prefix: parts.join("/") };
}

const reasons: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  AccessDenied: "access is denied",
  InvalidAccessKeyId: "AWS_ACCESS_KEY_ID is unknown there",
  SignatureDoesNotMatch: "AWS_SECRET_ACCESS_KEY is wrong",
  ExpiredToken: "the credentials have expired",
};

function failure(message: string, cause?: unknown): SitemapError {
  return new SitemapError("storage-failed", message, { cause });
}

function textOf(xml: string, name: string): string {
  return decoded(new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "");
}

function decoded(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

// S3 takes no smaller parts, and no more than 10,000.
const smallestPart = 8 * 2 ** 20;
const mostParts = 9000;
const mostAttempts = 6;
// In milliseconds.
const requestTime = 120_000;
