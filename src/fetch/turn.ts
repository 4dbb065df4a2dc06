// Waits until a request may be sent: its host takes requests (host-records.ts), the crawl has a slot for it (throttle.ts), and so
// has the fleet, if the crawl belongs to one (shared-limits.ts).
import type { Problem } from "../model/problem.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Admission, HostRecords } from "./host-records.ts";
import type { Applicant, SharedLimits } from "./shared-limits.ts";
import type { Slot, Throttle } from "./throttle.ts";

export interface TurnLimits {
  readonly hosts: HostRecords;
  readonly throttle: Throttle;
  readonly shared: SharedLimits | undefined;
}

export interface TurnRequest extends Omit<Applicant, "isKnown"> {
  /** Before requests that begin something new: for retries and redirects. */
  readonly goesFirst: boolean;
  readonly caller: Cancellation;
}

/** A slot of the crawl and, in a fleet, one of the fleet. */
export interface Turn extends Slot {
  /** The response has begun. */
  answered(): void;
}

/** Permission to send the request, or why it is not sent. Rejects with the reason of the cancellation. */
export async function acquireTurn(
  { hosts, throttle, shared }: TurnLimits,
  { target, isTrusted, isRetry, goesFirst, caller }: TurnRequest,
): Promise<{ admission: Admission; slot: Turn } | Problem> {
  for (;;) {
    const admitted = hosts.admit(target, caller);
    // Awaited only if it is a promise: otherwise the next caller would not see yet that this place is taken.
    const admission = admitted instanceof Promise ? await admitted : admitted;
    if ("code" in admission) return admission;
    try {
      const slot = await throttle.acquire(target.hostname, caller, goesFirst, () => admission.isStale);
      if (slot !== undefined && shared === undefined) return { admission, slot: { ...slot, answered: () => {} } };
      if (slot !== undefined) {
        const applicant = { target, isTrusted, isRetry, isKnown: hosts.hasAnswered(target) };
        const turn = await sharedTurn(slot, shared as SharedLimits, applicant, caller);
        if (!admission.isStale) return { admission, slot: turn };
        turn.release();
      }
    } catch (error) {
      admission.end();
      throw error;
    }
    admission.end();
  }
}

async function sharedTurn(slot: Slot, shared: SharedLimits, applicant: Applicant, caller: Cancellation): Promise<Turn> {
  try {
    const other = await shared.acquire(applicant, caller);
    return {
      answered: () => other.answered(),
      lend() {
        other.lend();
        slot.lend();
      },
      release() {
        other.release();
        slot.release();
      },
    };
  } catch (error) {
    slot.release();
    throw error;
  }
}
