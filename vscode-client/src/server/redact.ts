/** Makes settings and other people's texts fit to be shown in a document that is passed on. */

const SECRET = /token|password|passwd|secret|credential|api_?key/i;

/** Values of what sounds like a secret, and names and passwords in addresses, are left out. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return withoutCredentials(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      // the name of an environment variable is no secret, and worth knowing
      SECRET.test(key) && !key.endsWith("_variable") ? "(not shown)" : withoutSecrets(inner),
    ]),
  );
}

function withoutCredentials(text: string): string {
  return text
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s@]*@/gi, "$1(not shown)@")
    .replace(/([?&][^=&\s]*(?:token|key|secret|password)[^=&\s]*=)[^&\s]+/gi, "$1(not shown)");
}

/** One line of plain text for Markdown, cut. */
export function cell(text: string, longest = 300): string {
  const line = withoutCredentials(text).replace(/\s+/g, " ").trim();
  const short = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return short.replace(/[\\`[\]<>|]/g, "\\$&");
}

/** The same as code, for paths and commands. */
export function code(text: string, longest = 1_000): string {
  const line = withoutCredentials(text).replace(/\s+/g, " ").trim();
  const short = line.length > longest ? `${line.slice(0, longest)}…` : line;
  return `\`${short.replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}
