// Prints the commands of package.json as a Markdown table, with what each does (src/commands/descriptions.ts) and where it is.
// docs/editors/vscode.md holds it; a unit test compares, and writes it with TRIED_UPDATE_DOCS=1.
import fs from "node:fs";
import path from "node:path";
import esbuild from "esbuild";

const client = path.resolve(import.meta.dirname, "..");
const { commands, menus } = JSON.parse(fs.readFileSync(path.join(client, "package.json"), "utf8")).contributes;

async function descriptions() {
  const { code } = await esbuild.transform(fs.readFileSync(path.join(client, "src", "commands", "descriptions.ts"), "utf8"), { loader: "ts", format: "esm" });
  const { DESCRIPTIONS } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return DESCRIPTIONS;
}

const PLACES = { "view/title": "the title bar of a view", "view/item/context": "the menu of a row", "tried.editor": "the menu of the editor" };

function placesOf(command) {
  const isIn = (menu) => menus[menu].some((item) => item.command === command);
  const isHidden = menus.commandPalette.some((item) => item.command === command && item.when === "false");
  const places = [...(isHidden ? [] : ["palette"]), ...Object.keys(PLACES).filter(isIn).map((menu) => PLACES[menu])];
  return places.length > 0 ? places : ["a click on a row"];
}

const told = await descriptions();
const rows = commands.map(({ command, title, category }) => {
  const places = placesOf(command);
  const name = places[0] === "palette" ? `${category}: ${title}` : title;
  return { isFirst: places[0] === "palette", row: `| **${name}** | ${told[command]} | ${places.join(", ")} |` };
});
const ordered = [...rows.filter(({ isFirst }) => isFirst), ...rows.filter(({ isFirst }) => !isFirst)];
console.log(["| command | what it does | where |", "|---|---|---|", ...ordered.map(({ row }) => row)].join("\n"));
