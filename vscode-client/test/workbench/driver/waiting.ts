/** Waiting for what one expects to see, with a message that says what was seen instead. */

const STEP_MS = 50;

/** Asks again and again until the answer passes, and returns it; fails with what was waited for and the last answer. */
export async function waitFor<Answer>(
  what: string,
  ask: () => Promise<Answer> | Answer,
  passes: (answer: Answer) => boolean,
  seconds = 30,
): Promise<Answer> {
  const deadline = Date.now() + seconds * 1000;
  let last = "nothing";
  for (;;) {
    try {
      const answer = await ask();
      if (passes(answer)) return answer;
      last = describe(answer);
    } catch (error) {
      last = error instanceof Error ? (error.message.split("\n")[0] ?? "an error") : String(error);
    }
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s for ${what}; last saw: ${last}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}

function describe(answer: unknown): string {
  const text = typeof answer === "string" ? answer : (JSON.stringify(answer) as string | undefined) ?? "nothing";
  return text.length > 2000 ? `${text.slice(0, 2000)} …` : text;
}
