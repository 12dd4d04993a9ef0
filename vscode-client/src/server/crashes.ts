/** When a server that ended by itself is started again. */

const WINDOW_MS = 3 * 60_000;
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];

export class CrashHistory {
  #times: number[] = [];

  /** Milliseconds to wait before the next start; undefined: it ended too often, leave it. `now` in milliseconds. */
  next(now: number): number | undefined {
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    const pause = PAUSES_MS[this.#times.length];
    if (pause !== undefined) this.#times.push(now);
    return pause;
  }

  /** Nothing has ended by itself of late. */
  get isEmpty(): boolean {
    return this.#times.length === 0;
  }

  forget(): void {
    this.#times = [];
  }
}
