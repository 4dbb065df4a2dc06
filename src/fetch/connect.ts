// Opens connections: resolves the name, checks every address against the policy, connects to a checked address, opens a
// tunnel through a proxy, and does the TLS handshake. Nothing is resolved again between check and connection, which
// rules out DNS rebinding, except behind a proxy; the name is still used for the certificate, SNI and Host.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import net from "node:net";
import type tls from "node:tls";
import { SitemapError } from "../model/errors.ts";
import type { Settings } from "../model/options.ts";
import { problem } from "../model/problem.ts";
import { FollowingController, unlessAborted, waitFor } from "./abort.ts";
import { type Endpoint, isPublicAddress } from "./address-policy.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import { type Lookup, systemLookup } from "./lookup.ts";
import { type ChosenProxy, openTunnel, proxyFailure } from "./proxy.ts";
import { Clock, type Wait } from "./timeouts.ts";

/** How to reach a website: directly, through a proxy that gets the whole URL, or through a tunnel. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly proxy?: ChosenProxy | undefined;
  readonly isTunnel: boolean;
  /** Whether the request is a retry, so that a cached lookup may be wrong. */
  readonly isRetry: boolean;
}

/** Opens a connection. Rejects with a `ConnectionProblem`, or with the signal's reason. */
export type Connect = (way: Route, signal: AbortSignal) => Promise<net.Socket>;

export function createConnect(settings: Settings, lookup: Lookup = systemLookup()): Connect {
  const addressesOf = checkedLookup(lookup);
  const secureContext = secureContextOf(settings);
  const secureOptions: tls.ConnectionOptions = {
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: settings.tls.verify,
    ...(secureContext === undefined ? {} : { secureContext }),
  };
  return async ({ endpoint, proxy, isTunnel, isRetry }, caller) => {
    const first = proxy?.endpoint ?? endpoint;
    let isPastProxy = proxy === undefined;
    const sockets: net.Socket[] = [];
    // The caller or a timeout aborts this controller.
    const stopping = new FollowingController(caller);
    const { signal } = stopping;
    const limit = settings.timeout.connect;
    const clock = new Clock(Number.POSITIVE_INFINITY, (expired) => stopping.abort(new ConnectionProblem(expired)));
    // There is one limit for everything after the lookup. The step in progress when it is reached determines the problem.
    const wait: { limit: number; code: Wait["code"] } = { limit, code: "timeout-connect" };
    const secured = ({ host }: Endpoint, socket: net.Socket) => {
      wait.code = "timeout-tls";
      const servername = net.isIP(host) === 0 ? host : "";
      const secure = nodeTls().connect({ ...secureOptions, host, servername, socket });
      sockets.push(secure);
      return opened(secure, "secureConnect", signal);
    };
    try {
      const addresses = await unlessAborted(signal, addressesOf(first, isRetry, signal));
      clock.start(wait);
      const bottom = connectTo(first, addresses);
      sockets.push(bottom);
      let socket = await opened(bottom, "connect", signal);
      if (first.secure) socket = await secured(first, socket);
      if (proxy !== undefined && isTunnel) {
        wait.code = "timeout-connect";
        socket = await unlessAborted(signal, openTunnel(socket, proxy, endpoint));
        isPastProxy = true;
        if (endpoint.secure) socket = await secured(endpoint, socket);
      }
      return socket;
    } catch (error) {
      // An error may still follow, and would be uncaught without a listener.
      for (const socket of sockets) socket.on("error", () => {}).destroy();
      caller.throwIfAborted();
      const failed = problemOf(error, "head");
      throw new ConnectionProblem(isPastProxy ? failed : proxyFailure(failed));
    } finally {
      clock.end();
      stopping.release();
    }
  };
}

// node:tls is not imported, because an import would copy all of Node's root certificates into strings, even if only http is used.
function nodeTls(): typeof tls {
  return process.getBuiltinModule("node:tls");
}

function checkedLookup(lookup: Lookup) {
  // Whether the host of a start URL resolved to a private address the first time. If it does so only later, that is DNS rebinding.
  const privateStarts = new Map<string, boolean>();
  return async ({ host, reach }: Endpoint, isRetry: boolean, signal: AbortSignal): Promise<readonly string[]> => {
    const options = { isRetry, isTrusted: reach !== "public", signal };
    const addresses = net.isIP(host) === 0 ? await lookup(host, options).catch(throwLookupProblem) : [host];
    if (addresses.length === 0) throw new ConnectionProblem(problem("dns-not-found"));
    if (reach === "any") return addresses;
    const isPublic = addresses.every(isPublicAddress);
    const allowed =
      reach === "start" ? (privateStarts.get(host) ?? !addresses.some(isPublicAddress)) || isPublic : isPublic;
    if (!allowed) throw new ConnectionProblem(problem("address-blocked"));
    if (reach === "start" && !privateStarts.has(host)) privateStarts.set(host, !isPublic);
    return addresses;
  };
}

function throwLookupProblem(error: unknown): never {
  const { code } = problemOf(error, "head");
  throw new ConnectionProblem(problem(code === "dns-not-found" ? code : "dns-temporary"));
}

function connectTo({ host, port }: Endpoint, addresses: readonly string[]): net.Socket {
  const checked = addresses.map((address) => ({ address, family: net.isIP(address) }));
  return net.connect({
    host,
    port,
    // node:net calls this only for names, and tries the checked addresses in turn.
    lookup: (_, { all }, callback) => {
      if (all === true) callback(null, checked);
      else callback(null, checked[0]?.address ?? "", checked[0]?.family);
    },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttempt,
    noDelay: true,
    keepAlive: true,
  });
}

function opened(socket: net.Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<net.Socket> {
  return waitFor(signal, (resolve, reject) => {
    // node:net does not treat a regular end in the middle of a handshake as an error.
    const onClose = () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    // The error listener stays: an error before the next listener is added would be uncaught.
    socket.on("error", reject).once("close", onClose);
    socket.once(event, () => {
      socket.off("close", onClose);
      resolve(socket);
    });
    return () => {};
  });
}

// How long to try one of several addresses before the next one, in milliseconds.
const addressAttempt = 500;

/**
 * Returns a context with the certificates trusted in addition to Node's own, or undefined if there are none. It is reused, because
 * parsing the built-in certificates takes longer than a handshake.
 */
export function secureContextOf({ tls: { ca } }: Settings): tls.SecureContext | undefined {
  if (ca.length === 0) return undefined;
  // The last context is kept, because it is usually the same for all crawls of a program.
  const key = JSON.stringify([process.env["NODE_EXTRA_CA_CERTS"], ca]);
  if (last?.key !== key) last = { key, context: createContext(ca) };
  return last.context;
}

let last: { readonly key: string; readonly context: tls.SecureContext } | undefined;

function createContext(ca: readonly string[]): tls.SecureContext {
  const added = ca.flatMap(certificatesIn);
  // Node's option `ca` would replace the certificates that Node trusts: its own list, that of the system and NODE_EXTRA_CA_CERTS. Node 20
  // cannot list them, but certificates can be added to the context.
  const { createSecureContext } = nodeTls();
  const secure = createSecureContext();
  const { addCACert } = secure.context as { addCACert?: (pem: string) => void };
  if (addCACert === undefined) return createSecureContext({ ca: [...trustedByNode(), ...added] });
  for (const certificate of [...extra(), ...added]) addCACert.call(secure.context, certificate);
  return secure;
}

// Returns the certificates in NODE_EXTRA_CA_CERTS, because Node 20 drops them as soon as we add one. Node itself reports an unreadable file.
function extra(): string[] {
  const { NODE_EXTRA_CA_CERTS: file } = process.env;
  try {
    return file === undefined || file === "" ? [] : certificatesIn(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}

function trustedByNode(): readonly string[] {
  const nodes: typeof tls & { getCACertificates?: (kind: "default") => string[] } = nodeTls();
  return nodes.getCACertificates?.("default") ?? nodes.rootCertificates;
}

// Returns the certificates in a PEM text. They are checked, because OpenSSL would silently skip invalid ones.
function certificatesIn(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN [^-]*CERTIFICATE-----[^-]*-----END [^-]*CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    if (blocks.length > 0) return blocks;
  } catch {}
  throw new SitemapError("invalid-option", "Expected `tls.ca` to be certificates in PEM form");
}
