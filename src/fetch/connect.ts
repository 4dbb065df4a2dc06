// Opens connections: resolves the name, checks every address against the policy, connects to a checked address, opens a
// tunnel through a proxy, and does the TLS handshake. Nothing is resolved again between check and connection, which
// rules out DNS rebinding; the name still counts for the certificate, SNI and Host.
import net from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { Settings } from "../model/options.ts";
import { problem } from "../model/problem.ts";
import { isPublicAddress } from "./address-policy.ts";
import { secureContextOf } from "./certificates.ts";
import { ConnectionProblem, problemOf } from "./failure.ts";
import { type Lookup, sharedLookup } from "./lookup.ts";
import { type ChosenProxy, openTunnel, proxyFailure } from "./proxy.ts";
import { receivingFor } from "./receive.ts";
import { longestTimer } from "./timeouts.ts";
import { Transport } from "./transport.ts";
import { Wire } from "./wire.ts";

export interface Endpoint {
  readonly secure: boolean;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** `any`: set by the caller. `start`: private or public, but always the same. `public`: globally routable. */
  readonly reach: "any" | "start" | "public";
}

/** How to reach a website: directly, through a proxy that gets the whole URL, or through a tunnel. */
export interface Way {
  readonly endpoint: Endpoint;
  readonly proxy?: ChosenProxy | undefined;
  readonly isTunnel: boolean;
  /** Ignore remembered failures. */
  readonly isRetry: boolean;
}

/** Rejects with a `ConnectionProblem`, or with the signal's reason. */
export type Connect = (way: Way, signal: AbortSignal) => Promise<Transport>;

/** What tests replace. */
export interface ConnectParts {
  readonly lookup?: Lookup | undefined;
  /** How long a look-up may take, in milliseconds. */
  readonly lookupTime?: number | undefined;
}

export function createConnect(settings: Settings, parts: ConnectParts = {}): Connect {
  const { lookup = sharedLookup, lookupTime = longestLookup } = parts;
  const secureContext = secureContextOf(settings);
  const addressesOf = judgedLookup(lookup);
  return async ({ endpoint, proxy, isTunnel, isRetry }, signal) => {
    const opening = new Opening(settings, secureContext, signal);
    try {
      const first = proxy?.endpoint ?? endpoint;
      const addresses = await opening.lookUp(addressesOf(first, isRetry, signal), lookupTime);
      await opening.connect(first, addresses);
      if (first.secure) await opening.secure(first);
      if (proxy !== undefined && isTunnel) {
        await opening.tunnel(proxy, endpoint);
        if (endpoint.secure) await opening.secure(endpoint);
      }
      return opening.finish();
    } catch (error) {
      opening.abandon();
      if (signal.aborted) throw signal.reason;
      const failed = problemOf(error, "head");
      throw new ConnectionProblem(proxy !== undefined && !opening.isPastProxy ? proxyFailure(failed) : failed);
    }
  };
}

type JudgedLookup = (endpoint: Endpoint, isRetry: boolean, signal: AbortSignal) => Promise<readonly string[]>;

function judgedLookup(lookup: Lookup): JudgedLookup {
  // Whether a start URL resolved to a private address the first time. If not, it must not do so later: that would be
  // DNS rebinding.
  const privateStarts = new Map<string, boolean>();
  return async ({ host, reach }, isRetry, signal) => {
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

/** A connection that is being opened: its sockets so far, and its timeouts. */
class Opening {
  readonly #settings: Settings;
  readonly #secureContext: tls.SecureContext | undefined;
  readonly #signal: AbortSignal;
  readonly #stopped: Promise<never>;
  #stop: (reason: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #lastLook: NodeJS.Immediate | undefined;
  #late: "dns-temporary" | "timeout-connect" | "timeout-tls" = "dns-temporary";
  #bottom: net.Socket | undefined;
  #top: Duplex | undefined;
  #wire: Wire | undefined;
  #transport: Transport | undefined;
  /** From here on, failures are not the proxy's. */
  isPastProxy = false;

  constructor(settings: Settings, secureContext: tls.SecureContext | undefined, signal: AbortSignal) {
    this.#settings = settings;
    this.#secureContext = secureContext;
    this.#signal = signal;
    this.#stopped = new Promise<never>((_, reject) => {
      this.#stop = reject;
    });
    this.#stopped.catch(() => {});
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /** Resolving names has a timeout of its own. */
  async lookUp(addresses: Promise<readonly string[]>, limit: number): Promise<readonly string[]> {
    this.#setTimer(limit);
    const found = await this.#unlessStopped(addresses);
    this.#setTimer(this.#settings.timeout.connect);
    return found;
  }

  async connect({ host, port }: Endpoint, addresses: readonly string[]): Promise<void> {
    this.#late = "timeout-connect";
    const socket: net.Socket = net.connect({
      host,
      port,
      // Only called for names: returns the addresses that were checked. Several are tried in turn.
      lookup: (_, { all }, callback) => {
        const judged = addresses.map((address) => ({ address, family: net.isIP(address) }));
        if (all === true) callback(null, judged);
        else callback(null, judged[0]?.address ?? "", judged[0]?.family);
      },
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: addressAttempt,
      noDelay: true,
      keepAlive: true,
      onread: receivingFor(() => socket),
    });
    this.#bottom = socket;
    this.#top = socket;
    await this.#unlessStopped(happens(socket, "connect"));
  }

  async secure({ host }: Endpoint): Promise<void> {
    this.#late = "timeout-tls";
    const under = this.#top as Duplex;
    const wire = new Wire(under, under === this.#bottom ? this.#onReceive : () => {});
    const socket = tls.connect({
      socket: wire,
      host,
      servername: net.isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: this.#settings.tls.verify,
      ...(this.#secureContext === undefined ? {} : { secureContext: this.#secureContext }),
    });
    this.#top = socket;
    this.#wire = wire;
    await this.#unlessStopped(happens(socket, "secureConnect"));
  }

  async tunnel(proxy: ChosenProxy, endpoint: Endpoint): Promise<void> {
    this.#late = "timeout-connect";
    await this.#unlessStopped(openTunnel(this.#top as Duplex, proxy, endpoint));
    this.isPastProxy = true;
  }

  finish(): Transport {
    this.#end();
    this.#transport = new Transport(this.#top as net.Socket, this.#bottom as net.Socket, this.#wire);
    return this.#transport;
  }

  abandon(): void {
    this.#end();
    // An error may still follow: without a listener it would be uncaught.
    for (const stream of [this.#top, this.#wire, this.#bottom]) stream?.on("error", () => {}).destroy();
  }

  readonly #onReceive = (): void => {
    if (this.#transport !== undefined) this.#transport.onReceive();
    else if ((this.#bottom?.bytesRead ?? 0) > openingBytes) {
      this.#stop(new ConnectionProblem(problem("tls-failed", { value: "too much data in the handshake" })));
    }
  };

  readonly #onAbort = () => this.#stop(this.#signal.reason);

  #end(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }

  #setTimer(limit: number): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
    if (!Number.isFinite(limit)) return;
    const time = Math.min(limit, longestTimer);
    const due = performance.now() + time;
    this.#timer = setTimeout(() => {
      // As for the timeouts of an attempt: time in which this process did not run is nobody's, and what has arrived is read first.
      if (performance.now() - due > 1000) this.#setTimer(limit);
      else this.#lastLook = setImmediate(() => this.#stop(new ConnectionProblem(problem(this.#late, { limit }))));
    }, time);
  }

  #unlessStopped<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#stopped]);
  }
}

function happens(socket: net.Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    // node:net does not treat a regular end in the middle of a handshake as an error.
    const onClose = () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" }));
    socket.once("close", onClose);
    socket.once(event, () => {
      socket.off("error", reject);
      socket.off("close", onClose);
      resolve();
    });
  });
}

// More than any certificate chain that OpenSSL accepts, plus a proxy's answer.
const openingBytes = 512 * 1024;

// How long resolving a name may take, in milliseconds. Not part of `timeout.connect`, which is about the website.
export const longestLookup = 10_000;

// How long to try one of several addresses before the next one, in milliseconds.
const addressAttempt = 500;
