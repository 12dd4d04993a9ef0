/** Which documents the server is told of. */

import type { DocumentSelector } from "vscode-languageclient/node";

/** Those of the activation events. */
export const LANGUAGES = ["yaml", "json", "jsonc", "toml", "python", "dotenv", "shellscript", "properties"];

/** The same by their names: other extensions give YAML files languages of their own, and TOML has none without one. */
export const PATTERNS = ["**/*.{yaml,yml,json,jsonc,toml,py,sh,bash,zsh,env}", "**/{.env,.env.*}"];

/** Virtual documents have no place on a disk, and no runs beside them. */
export const SCHEMES = ["file", "untitled"];

export const DOCUMENT_SELECTOR: DocumentSelector = SCHEMES.flatMap((scheme) => [
  ...LANGUAGES.map((language) => ({ scheme, language })),
  ...(scheme === "file" ? PATTERNS.map((pattern) => ({ scheme, pattern })) : []),
]);
