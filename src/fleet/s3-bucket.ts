// A bucket of an S3-compatible store. A summary is created only if its name is free (`If-None-Match: *`): if two processes publish the same
// website, one learns that it came second. https://docs.aws.amazon.com/AmazonS3/latest/API/
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { SitemapError } from "../model/errors.ts";
import { invalid } from "../model/option-checks.ts";
import { longestLine } from "./lines.ts";
import { missingPackage } from "./optional-package.ts";

type Sdk = typeof import("@aws-sdk/client-s3") & Pick<typeof import("@aws-sdk/lib-storage"), "Upload">;

export interface BucketLimits {
  /** Larger files are uploaded in parts of this size, in bytes. */
  readonly partSize: number;
  /** How long the store may be silent, in milliseconds. */
  readonly silence: number;
}

export class S3Bucket {
  /** `s3://bucket/prefix`, without a slash at its end. */
  readonly address: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #limits: BucketLimits;

  private constructor(sdk: Sdk, client: S3Client, bucket: string, prefix: string, limits: BucketLimits) {
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#limits = limits;
    this.address = `s3://${bucket}${prefix === "" ? "" : `/${prefix}`}`;
  }

  /** Credentials and region come from the variables and files that the SDK reads. Throws a `SitemapError` on failure. */
  static async open(
    address: string,
    environment: NodeJS.ProcessEnv = process.env,
    limits: Partial<BucketLimits> = {},
  ): Promise<S3Bucket> {
    const { bucket, prefix } = bucketAddress(address);
    const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment;
    if (AWS_ACCESS_KEY_ID && !AWS_SECRET_ACCESS_KEY) throw invalid("s3:// needs AWS_SECRET_ACCESS_KEY");
    const endpoint = endpointOf(environment);
    const missing = missingPackage("s3:// needs the AWS SDK: npm install @aws-sdk/client-s3 @aws-sdk/lib-storage");
    // The SDK would warn about old versions of Node.js on standard error.
    process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
    const sdk = {
      ...(await import("@aws-sdk/client-s3").catch(missing)),
      ...(await import("@aws-sdk/lib-storage").catch(missing)),
    };
    const all = { partSize: 8 * 2 ** 20, silence: 60_000, ...limits };
    const client = new sdk.S3Client({
      // Stores other than AWS need no region.
      region: AWS_REGION || AWS_DEFAULT_REGION || (await new sdk.S3Client().config.region().catch(() => "us-east-1")),
      ...(endpoint === "" ? {} : { endpoint }),
      forcePathStyle: endpoint !== "" || bucket.includes("."),
      ...(AWS_ACCESS_KEY_ID && {
        credentials: {
          accessKeyId: AWS_ACCESS_KEY_ID,
          secretAccessKey: AWS_SECRET_ACCESS_KEY ?? "",
          ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
        },
      }),
      maxAttempts: mostAttempts,
      // Not every S3-compatible store supports the SDK's checksums.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // The SDK would warn if many files wait for a socket.
      requestHandler: {
        ...{ connectionTimeout: 10_000, socketTimeout: all.silence, socketAcquisitionWarningTimeout: 2 ** 31 - 1 },
      },
    });
    return new S3Bucket(sdk, client, bucket, prefix, all);
  }

  /** Checks that the bucket exists and honors `If-None-Match`. */
  async inspect(): Promise<void> {
    const key = "sitegrove.txt";
    await this.create(key, "Outputs of sitegrove. The summaries list the valid files.\n");
    if ((await this.create(key, "-")) === "exists") return;
    await this.delete(key);
    throw failure(`${this.address} cannot be used: it does not honor If-None-Match`);
  }

  /** Writes an object, unless the name is taken. */
  async create(key: string, text: string): Promise<"created" | "exists"> {
    // The SDK cannot determine the length of an empty text.
    const content = { Body: text, ContentLength: Buffer.byteLength(text), ContentType: "application/json" };
    const put = new this.#sdk.PutObjectCommand({ ...this.#object(key), ...content, IfNoneMatch: "*" });
    return this.#send(async () => {
      try {
        await this.#client.send(put);
        return "created";
      } catch (error) {
        if (statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  /** Uploads a file, in parts if it is large. One part is held in memory. An object of this name is replaced. */
  async upload(key: string, file: string): Promise<void> {
    const { size } = await stat(file);
    const partSize = Math.max(this.#limits.partSize, Math.ceil(size / mostParts));
    const params = { ...this.#object(key), Body: createReadStream(file) };
    const upload = new this.#sdk.Upload({ client: this.#client, params, partSize, queueSize: 1 });
    await this.#send(() =>
      upload.done().catch(async (error: unknown) => {
        // If completing an upload fails, the SDK does not abort it: its parts would stay, and cost money.
        const abort = new this.#sdk.AbortMultipartUploadCommand({ ...this.#object(key), UploadId: upload.uploadId });
        if (upload.uploadId !== undefined) await this.#client.send(abort).catch(() => undefined);
        throw error;
      }),
    );
  }

  /** Reads a text. Throws a `SitemapError` if it is longer than any summary: others may write into a bucket. */
  async get(key: string): Promise<string | undefined> {
    return this.#send(async () => {
      const { Body, ContentLength = Number.POSITIVE_INFINITY } = (await this.#found(key)) ?? {};
      if (Body === undefined || ContentLength <= longestLine) return Body?.transformToString();
      (Body as Readable).on("error", () => {}).destroy();
      throw failure(`${key} is too long`);
    });
  }

  /** Downloads to a file. Returns false if the object does not exist. There is no time limit as long as data arrives. */
  async download(key: string, file: string): Promise<boolean> {
    return this.#send(async () => {
      const object = await this.#found(key);
      if (object !== undefined) await pipeline(object.Body as Readable, createWriteStream(file));
      return object !== undefined;
    });
  }

  async delete(key: string): Promise<void> {
    const { DeleteObjectCommand } = this.#sdk;
    await this.#send(() => this.#client.send(new DeleteObjectCommand(this.#object(key))));
  }

  /** The names that begin with `start`. */
  async list(start: string): Promise<string[]> {
    const { paginateListObjectsV2 } = this.#sdk;
    return this.#send(async () => {
      const names: string[] = [];
      const query = { Bucket: this.#bucket, Prefix: this.#prefix + start };
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, query))
        names.push(...Contents.map(({ Key = "" }) => Key.slice(this.#prefix.length)));
      return names;
    });
  }

  #object(key: string) {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  // Returns an object, or undefined if it does not exist.
  async #found(key: string) {
    try {
      return await this.#client.send(new this.#sdk.GetObjectCommand(this.#object(key)));
    } catch (error) {
      if (statusOf(error) === 404 && nameOf(error) !== "NoSuchBucket") return undefined;
      throw error;
    }
  }

  async #send<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): SitemapError {
    if (error instanceof SitemapError) return error;
    const { message, code } = (error ?? {}) as { message?: string; code?: string };
    const name = nameOf(error);
    if (statusOf(error) === undefined && reasons[name] === undefined)
      return failure(`${this.address} cannot be reached: ${message || code || name}`, error);
    return failure(`${this.address}: ${reasons[name] ?? message} (${name})`, error);
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
}

function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | undefined)?.name ?? "");
}

/** The endpoint that the environment names; empty for AWS. Two endpoints may have buckets of the same name. */
export function endpointOf({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL }: NodeJS.ProcessEnv = process.env): string {
  const endpoint = AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || "";
  if (endpoint !== "" && !/^https?:\/\//.test(endpoint))
    throw invalid("AWS_ENDPOINT_URL must begin with http:// or https://");
  return endpoint.replace(/\/+$/, "");
}

/** Whether a location is the address of a bucket. */
export function isBucket(location: string | undefined): location is string {
  return location !== undefined && /^s3:/i.test(location);
}

/** Parses the address of a bucket. Throws a `SitemapError` (`invalid-option`) if it is invalid. */
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
  InvalidAccessKeyId: "the server does not know AWS_ACCESS_KEY_ID",
  SignatureDoesNotMatch: "AWS_SECRET_ACCESS_KEY is wrong",
  ExpiredToken: "the credentials have expired",
  CredentialsProviderError: "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or configure a profile",
};

function failure(message: string, cause?: unknown): SitemapError {
  return new SitemapError("storage-failed", message, { cause });
}

// S3 accepts at most 10,000 parts.
const mostParts = 9000;
const mostAttempts = 6;
