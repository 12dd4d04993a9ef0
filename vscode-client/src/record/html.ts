/**
 * The page of the record panel: a frame without any data.
 *
 * Invariant: nothing of a record is ever part of this text. Data comes by message and is put in as text, by the page's own script.
 */

export interface PageParts {
  /** Of the webview: where its own files come from. */
  source: string;
  script: string;
  styles: readonly string[];
  /** New for each page. */
  nonce: string;
}

export function contentSecurityPolicy(source: string, nonce: string): string {
  return ["default-src 'none'", `style-src ${source}`, `script-src 'nonce-${nonce}'`, "base-uri 'none'", "form-action 'none'"].join("; ");
}

export function pageHtml({ source, script, styles, nonce }: PageParts): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(contentSecurityPolicy(source, nonce))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${styles.map((style) => `<link rel="stylesheet" href="${attribute(style)}">`).join("\n")}
<title>Record</title>
</head>
<body>
<div id="notice" role="status" aria-live="polite"></div>
<main id="record" aria-busy="true"></main>
<script nonce="${attribute(nonce)}" src="${attribute(script)}"></script>
</body>
</html>
`;
}

function attribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
