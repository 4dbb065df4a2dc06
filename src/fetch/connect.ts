// Opens connections: looks the name up, judges every answer, connects to an address that was judged, and speaks TLS.
// Between the judgement and the connection nothing is resolved again, so that no second answer can slip in; the name
// stays in the certificate check, in SNI and in Host.
import { X509Certificate } from "node:crypto";
import { lookup as systemLookup } from "node:dns/promises";
import net from "node:net";
import tls from "node:tls";
import { SitemapError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { type Problem, problem } from "../problem.ts";
import { isPublicAddress } from "./address-policy.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";

export interface Endpoint {
  readonly secure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** `any`: chosen by the operator. `start`: private or public, but always the same. `public`: globally routable. */
  readonly reach: "any" | "start" | "public";
}

/** All addresses of a name. Rejects with the codes of node:dns. */
export type Lookup = (hostName: string) => Promise<readonly string[]>;

/** Resolves with a socket that is ready for a request. Rejects with a `ConnectionProblem`. */
export type Connect = (endpoint: Endpoint, signal: AbortSignal, through?: net.Socket) => Promise<net.Socket>;

export function createConnect(settings: Settings, lookup: Lookup = lookupAll): Connect {
  const secureContext = secureContextOf(settings);
  // Whether the start was private when it was first looked up. If not, it must not become so: that would be an attack.
  const privateStarts = new Map<string, boolean>();

  async function addressesOf({ host, reach }: Endpoint): Promise<readonly string[]> {
    const addresses = net.isIP(host) === 0 ? await lookup(host).catch(throwLookupProblem) : [host];
    if (addresses.length === 0) throw new ConnectionProblem(problem("dns-not-found"));
    if (reach === "any") return addresses;
    const isPublic = addresses.every(isPublicAddress);
    const allowed =
      reach === "start" ? (privateStarts.get(host) ?? !addresses.some(isPublicAddress)) || isPublic : isPublic;
    if (!allowed) throw new ConnectionProblem(problem("address-blocked"));
    if (reach === "start" && !privateStarts.has(host)) privateStarts.set(host, !isPublic);
    return addresses;
  }

  return async (endpoint, signal, through) => {
    let phase: "lookup" | "connect" | "tls" = through === undefined ? "lookup" : "tls";
    let socket: net.Socket | undefined;
    let stop: ((reason: unknown) => void) | undefined;
    const stopped = new Promise<never>((_, reject) => {
      stop = reject;
    });
    stopped.catch(() => {});
    const limit = settings.timeout.connect;
    const timer = Number.isFinite(limit)
      ? setTimeout(() => stop?.(new ConnectionProblem(expired(phase, limit))), limit)
      : undefined;
    const onAbort = () => stop?.(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const addresses = through === undefined ? await Promise.race([addressesOf(endpoint), stopped]) : [];
      if (phase === "lookup") phase = "connect";
      socket = openSocket(endpoint, addresses, through, secureContext, settings.tls.verify, () => {
        phase = "tls";
      });
      await Promise.race([established(socket, endpoint.secure), stopped]);
      return socket;
    } catch (error) {
      // The error may still be on its way: it must not come out as an uncaught one.
      socket?.on("error", () => {}).destroy();
      through?.destroy();
      throw signal.aborted ? signal.reason : new ConnectionProblem(problemOf(error, "head"));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  };
}

async function lookupAll(hostName: string): Promise<readonly string[]> {
  const answers = await systemLookup(hostName, { all: true });
  return answers.map(({ address }) => address);
}

function throwLookupProblem(error: unknown): never {
  const { code } = problemOf(error, "head");
  throw new ConnectionProblem(problem(code === "dns-not-found" ? code : "dns-temporary"));
}

function expired(phase: "lookup" | "connect" | "tls", limit: number): Problem {
  if (phase === "lookup") return problem("dns-temporary", { limit });
  return problem(phase === "tls" ? "timeout-tls" : "timeout-connect", { limit });
}

function openSocket(
  { secure, host, port }: Endpoint,
  addresses: readonly string[],
  through: net.Socket | undefined,
  secureContext: tls.SecureContext | undefined,
  verify: boolean,
  onConnect: () => void,
): net.Socket {
  const target: net.TcpNetConnectOpts = {
    host,
    port,
    // Only called for names: gives what was judged. Several addresses are tried in turn.
    lookup: (_, { all }, callback) => {
      const judged = addresses.map((address) => ({ address, family: net.isIP(address) }));
      if (all === true) callback(null, judged);
      else callback(null, judged[0]?.address ?? "", judged[0]?.family);
    },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttempt,
    noDelay: true,
    keepAlive: true,
  };
  if (!secure) return through ?? net.connect(target);
  return tls
    .connect({
      ...(through === undefined ? target : { socket: through, host }),
      servername: net.isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: verify,
      ...(secureContext === undefined ? {} : { secureContext }),
    })
    .once("connect", onConnect);
}

// How long one of several addresses may take before the next one is tried, in milliseconds.
const addressAttempt = 500;

function established(socket: net.Socket, secure: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!secure && !socket.connecting) return resolve();
    const onError = (error: Error) => reject(error);
    socket.once("error", onError);
    socket.once(secure ? "secureConnect" : "connect", () => {
      socket.off("error", onError);
      resolve();
    });
  });
}

// Made once: to read the built-in certificates takes longer than a handshake.
function secureContextOf({ tls: { ca } }: Settings): tls.SecureContext | undefined {
  if (ca.length === 0) return undefined;
  if (!ca.every(areCertificates)) {
    throw new SitemapError("invalid-option", "Expected `tls.ca` to be certificates in PEM form");
  }
  // Newer versions of Node tell their default certificates, those of NODE_EXTRA_CA_CERTS included.
  const { getCACertificates } = tls as { getCACertificates?: (kind: "default") => string[] };
  return tls.createSecureContext({ ca: [...(getCACertificates?.("default") ?? tls.rootCertificates), ...ca] });
}

// A file may hold several. What is not a certificate would be passed over in silence.
function areCertificates(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN [^-]*CERTIFICATE-----[^-]*-----END [^-]*CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    return blocks.length > 0;
  } catch {
    return false;
  }
}
