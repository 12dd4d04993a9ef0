import type { Chosen } from "./choose";
import type { Session } from "./session";

export interface Facts {
  chosen: Chosen | undefined;
  pid: number | undefined;
  failure: string | undefined;
}

export function debugInformation(session: Session, facts: Facts): Promise<string> {
  return Promise.resolve(`# Tried\n\n${session.state} ${facts.chosen?.reason ?? ""}`);
}
