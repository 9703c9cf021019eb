import { EventEmitter } from "node:events";

/** One part of a firing: reach a temperature at a rate, then hold it. */
export interface Segment {
  readonly rate: number;
  readonly target: number;
  readonly hold: number;
}

export type Phase = "idle" | "heating" | "holding" | "cooling" | "failed";

export interface Reading {
  readonly minute: number;
  readonly celsius: number;
}

export class ScheduleError extends Error {
  constructor(
    message: string,
    readonly segment: number,
  ) {
    super(`segment ${segment + 1}: ${message}`);
    this.name = "ScheduleError";
  }
}

const HOTTEST = 1320;
const STEEPEST = 400;

export function check(segments: readonly Segment[]): void {
  segments.forEach((segment, index) => {
    if (segment.target > HOTTEST) {
      throw new ScheduleError(`${segment.target} °C is more than the kiln stands`, index);
    }
    if (Math.abs(segment.rate) > STEEPEST) {
      throw new ScheduleError(`${segment.rate} °C an hour is too steep`, index);
    }
    if (segment.hold < 0) {
      throw new ScheduleError("it cannot be held for less than no time", index);
    }
  });
}

export class Kiln extends EventEmitter {
  #phase: Phase = "idle";
  #segments: Segment[] = [];
  #current = 0;
  #heldSince: number | undefined;

  get phase(): Phase {
    return this.#phase;
  }

  start(segments: readonly Segment[]): void {
    if (this.#phase !== "idle") {
      throw new Error(`The kiln is ${this.#phase}.`);
    }
    check(segments);
    this.#segments = [...segments];
    this.#current = 0;
    this.#heldSince = undefined;
    this.#enter(segments.length === 0 ? "idle" : "heating");
  }

  stop(): void {
    this.#segments = [];
    this.#current = 0;
    this.#heldSince = undefined;
    this.#enter("idle");
  }

  read(reading: Reading): void {
    const segment = this.#segments[this.#current];
    if (segment === undefined) {
      return;
    }
    if (!Number.isFinite(reading.celsius)) {
      this.#enter("failed");
      this.emit("failure", "The thermocouple doesn't answer.");
      return;
    }
    const reached = segment.rate >= 0 ? reading.celsius >= segment.target : reading.celsius <= segment.target;
    if (!reached) {
      this.#enter(segment.rate >= 0 ? "heating" : "cooling");
      return;
    }
    this.#heldSince ??= reading.minute;
    this.#enter("holding");
    if (reading.minute - this.#heldSince >= segment.hold) {
      this.#current += 1;
      this.#heldSince = undefined;
      this.emit("segment", this.#current);
    }
    if (this.#current === this.#segments.length) {
      this.#enter("idle");
      this.emit("done");
    }
  }

  #enter(phase: Phase): void {
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.emit("phase", phase);
    }
  }
}
