// Limits the requests to one address at a time, whatever names lead there: a thousand shops may share a server. The
// first request to a host frees its place if no answer comes soon, as long as there are not too many such hosts: a
// silent website must not hold up others on the same address.
import type { Cancellation } from "./cancellation.ts";

/** Permission to send one request to an address. */
export interface AddressSlot {
  /** The response has begun. */
  answered(): void;
  /** Returns it; a second call does nothing. */
  release(): void;
}

export class AddressLimit {
  readonly #limit: () => number;
  readonly #addresses = new Map<string, Address>();

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /**
   * Waits for a slot, in the order of the calls. `isKnown`: the host has answered before. Rejects with the reason of
   * the cancellation.
   */
  acquire(key: string, isKnown: boolean, cancellation: Cancellation): AddressSlot | Promise<AddressSlot> {
    let address = this.#addresses.get(key);
    if (address === undefined) {
      address = { key, counted: new Set(), silent: 0, waiting: new Set(), timer: undefined };
      this.#addresses.set(key, address);
    }
    const { counted, waiting } = address;
    if (waiting.size === 0 && counted.size < this.#limit()) return this.#start(address, isKnown);
    const found = address;
    return new Promise((resolve, reject) => {
      if (cancellation.cancelled) return reject(cancellation.reason);
      const onCancel = () => {
        waiting.delete(waiter);
        this.#dispatch(found);
        reject(cancellation.reason);
      };
      const waiter = () => {
        cancellation.remove(onCancel);
        resolve(this.#start(found, isKnown));
      };
      waiting.add(waiter);
      cancellation.add(onCancel);
      this.#dispatch(found);
    });
  }

  /** How many addresses are in use. */
  get size(): number {
    return this.#addresses.size;
  }

  #start(address: Address, isKnown: boolean): AddressSlot {
    const request: Request = { since: performance.now(), isAnswered: isKnown };
    address.counted.add(request);
    let held = true;
    return {
      answered: () => {
        request.isAnswered = true;
      },
      release: () => {
        if (!held) return;
        held = false;
        if (!address.counted.delete(request)) address.silent--;
        this.#dispatch(address);
      },
    };
  }

  #dispatch(address: Address): void {
    clearTimeout(address.timer);
    address.timer = undefined;
    const { counted, waiting } = address;
    for (const waiter of waiting) {
      if (counted.size >= this.#limit()) {
        this.#makeRoomLater(address);
        return;
      }
      waiting.delete(waiter);
      waiter();
    }
    if (counted.size + address.silent === 0) this.#addresses.delete(address.key);
  }

  #makeRoomLater(address: Address): void {
    if (address.silent >= mostSilent) return;
    const oldest = [...address.counted].find(({ isAnswered }) => !isAnswered);
    if (oldest === undefined) return;
    const due = Math.max(oldest.since + patience, performance.now() + shortest);
    address.timer = setTimeout(
      () => {
        // If this process was busy, the silence may be its own fault.
        const isBusy = performance.now() - due > longestLag;
        if (isBusy) for (const request of address.counted) request.since = performance.now();
        else if (!oldest.isAnswered && address.counted.delete(oldest)) address.silent++;
        this.#dispatch(address);
      },
      Math.ceil(due - performance.now()),
    );
  }
}

interface Request {
  /** On the clock of performance.now(): since when nothing was received. */
  since: number;
  isAnswered: boolean;
}

interface Address {
  readonly key: string;
  /** The oldest first. */
  readonly counted: Set<Request>;
  /** Those that freed their place. */
  silent: number;
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

// In milliseconds.
const patience = 500;
const shortest = 10;
const longestLag = 50;
const mostSilent = 64;
