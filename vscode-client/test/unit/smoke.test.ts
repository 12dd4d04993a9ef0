import assert from "node:assert/strict";
import { test } from "node:test";
import * as protocol from "../../src/protocol";

test("methods of the protocol are told apart", () => {
  const methods = [protocol.EXPERIMENTS, protocol.ABSENCE, protocol.FINDINGS, protocol.RECORD, protocol.STATUS];
  assert.equal(new Set(methods).size, methods.length);
});
