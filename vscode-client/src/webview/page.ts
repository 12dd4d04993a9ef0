/** What the parts of the page share: the extension that they talk to, and what is kept while the page is away. */

import type { FromPage, PageState } from "../record/messages";

interface Host {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: PageState): void;
}

declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
let state = (host.getState() ?? {}) as PageState;

export function send(message: FromPage): void {
  host.postMessage(message);
}

export function kept(): PageState {
  return state;
}

export function keep(changes: Partial<PageState>): void {
  state = { ...state, ...changes };
  host.setState(state);
}

export function forget(name: keyof PageState): void {
  state = { ...state };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- one of the few names of the state
  delete state[name];
  host.setState(state);
}

/** Each button that opens a record has one of these names, unique within the page. */
export function focusName(place: string, record: string): string {
  return `${place}:${record}`;
}
