import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Coverage, Emitted } from '../protocol/translator-output.js';
import type { FcmpEvent } from '../protocol/fcmp-event.js';
import { fcmpSchema } from '../protocol/fcmp-event.js';
import type { RaspEvent } from '../protocol/rasp-event.js';
import { raspSchema } from '../protocol/rasp-event.js';

const ajv = new Ajv2020({ strict: false });
const isRaspEvent = ajv.compile(raspSchema);
const isFcmpEvent = ajv.compile(fcmpSchema);

export function selectRasp(emitted: readonly Emitted[]): readonly RaspEvent[] {
  return emitted.flatMap((one) => (one.protocol === 'rasp' ? [one.event] : []));
}

export function selectFcmp(emitted: readonly Emitted[]): readonly FcmpEvent[] {
  return emitted.flatMap((one) => (one.protocol === 'fcmp' ? [one.event] : []));
}

/** Asserts that every event is valid against its schema, after a round trip through JSON. */
export function expectValid(emitted: readonly Emitted[]): void {
  for (const { protocol, event } of emitted) {
    const serialized: unknown = JSON.parse(JSON.stringify(event));
    const validate = protocol === 'rasp' ? isRaspEvent : isFcmpEvent;
    if (!validate(serialized)) expect.fail(`${ajv.errorsText(validate.errors)} in ${JSON.stringify(event)}`);
  }
}

/** Asserts that no byte is lost or reported twice. */
export function expectCovered(coverage: Coverage): void {
  for (const [stream, { bytes, claimed, unclaimed, doubled }] of Object.entries(coverage)) {
    expect({ stream, claimed, unclaimed, doubled }).toEqual({ stream, claimed: bytes, unclaimed: [], doubled: [] });
  }
}

/** Asserts the invariants of an attempt's events, which hold for any bytes. */
export function expectInOrder(emitted: readonly Emitted[], fcmpSeq = 0): void {
  const rasp = selectRasp(emitted);
  const fcmp = selectFcmp(emitted);
  expect(rasp.map(({ seq }) => seq)).toEqual(rasp.map((_, index) => index + 1));
  expect(fcmp.map(({ seq }) => seq)).toEqual(fcmp.map((_, index) => fcmpSeq + index + 1));
  expect(rasp[0]?.event.type).toBe('lifecycle.run.started');
  // Answers that arrive while no process is running follow the end of the attempt that asked.
  const end = fcmp.findLast(({ type }) => type !== 'permission.replied');
  expectOneOf(end?.type, [...TERMINAL, 'user.input.required', 'diagnostic.warning']);
  expect(fcmp.filter(({ type }) => TERMINAL.includes(type)).length).toBeLessThanOrEqual(1);
  expect(fcmp.filter(({ type }) => type === 'conversation.started').length).toBeLessThanOrEqual(1);
  expectFinalsOnce(fcmp);
  expectToolsPaired(fcmp);
}

const TERMINAL: readonly string[] = ['conversation.completed', 'conversation.failed'];

function expectOneOf(type: string | undefined, types: readonly string[]): void {
  expect(types).toContain(type);
}

function expectFinalsOnce(fcmp: readonly FcmpEvent[]): void {
  const finalIds = new Set<string>();
  for (const event of fcmp) {
    if (event.type !== 'assistant.message.delta' && event.type !== 'assistant.message.final') continue;
    expect(finalIds, 'a message continues after its final').not.toContain(event.data.message_id);
    if (event.type === 'assistant.message.final') finalIds.add(event.data.message_id);
  }
}

function expectToolsPaired(fcmp: readonly FcmpEvent[]): void {
  const open = new Set<string>();
  for (const event of fcmp) {
    if (event.type !== 'assistant.tool_call') continue;
    const { tool_call_id: id, status } = event.data;
    if (status === 'started') {
      expect(open, 'a call is started twice').not.toContain(id);
      open.add(id);
    } else {
      expect(open, 'a call ends without its start').toContain(id);
      open.delete(id);
    }
  }
}
