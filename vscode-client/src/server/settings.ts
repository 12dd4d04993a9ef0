/** What the user set, as the server wants it: snake_case, and nothing that is a mere default. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What VS Code knows of one setting. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** What only the user's own settings may say: a project must not make tried talk to a server, nor read elsewhere. */
const OF_THE_USER = new Set(["remote", "pool.sources"]);

/** What says which server is started; it is none of the server's business. */
const OF_THE_CLIENT = new Set(["path", "interpreter", "importStrategy", "logLevel", "trace.server"]);

/**
 * The settings to send, nested, from all that is known: names are as in package.json without `tried.`. Tables, such as
 * `findings.severity`, merge over the places, as VS Code merges them; of everything else the nearest place counts. Of
 * what is in `restricted` the workspace's own values do not count: it is not trusted.
 */
export function settingsToSend(
  inspected: ReadonlyMap<string, Inspected>,
  restricted: ReadonlySet<string> = new Set(),
): Record<string, Json> {
  const sent: Record<string, Json> = {};
  for (const [name, places] of inspected) {
    if (OF_THE_CLIENT.has(name)) continue;
    const value = OF_THE_USER.has(name) || restricted.has(name) ? places.globalValue : merged(places);
    if (value === undefined || value === null) continue;
    insert(sent, name.split(".").map(snakeCase), withFields(value as Json));
  }
  return sent;
}

function merged(places: Inspected): unknown {
  const values = [places.globalValue, places.workspaceValue, places.workspaceFolderValue].filter(
    (value) => value !== undefined,
  );
  if (values.length > 1 && values.every(isTable)) return Object.assign({}, ...values) as unknown;
  return values.at(-1);
}

/** The fields of tables in a list (sources, servers, silences) are the server's; the keys of a table alone (metrics,
 * kinds of findings) are the user's own words. */
function withFields(value: Json): Json {
  if (!Array.isArray(value)) return value;
  return value.map((item) =>
    isTable(item) ? Object.fromEntries(Object.entries(item).map(([key, inner]) => [snakeCase(key), inner])) : item,
  );
}

function insert(target: Record<string, Json>, path: readonly string[], value: Json): void {
  let table = target;
  for (const key of path.slice(0, -1)) {
    const inner = table[key];
    const next = isTable(inner) ? inner : {};
    table[key] = next;
    table = next;
  }
  const last = path.at(-1);
  if (last !== undefined) table[last] = value;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isTable(value: unknown): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
