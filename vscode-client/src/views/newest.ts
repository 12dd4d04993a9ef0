/** Answers that come late: what was asked later counts, and an older answer never replaces a newer one. */
export class Newest {
  #asked = 0;
  #shown = 0;

  /** `show` is called with the answer unless that of a later question was shown before, or `forget` was called since. */
  async ask<Answer>(question: () => Promise<Answer>, show: (answer: Answer) => void): Promise<void> {
    const ticket = ++this.#asked;
    const answer = await question();
    if (ticket > this.#shown) {
      this.#shown = ticket;
      show(answer);
    }
  }

  /** Nothing that was asked until now will be shown. */
  forget(): void {
    this.#shown = this.#asked;
  }
}
