import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { EventSchemas } from '@ag-ui/core/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { selectFcmp } from '../contract/emitted-invariants.contract.js';
import { readFixtures, translateFixture } from '../contract/engine-fixture.contract.js';
import { ENGINE_NAMES } from '../protocol/engine-names.js';
import type { FcmpEvent } from '../protocol/fcmp-event.js';
import { toAcp } from './acp/acp.js';
import type { AgUiEvent } from './ag-ui/ag-ui-event.js';
import { toAgUi } from './ag-ui/ag-ui.js';
import { listBrokenRules } from './ag-ui/fixtures/ag-ui-rules.js';

const recordings = ENGINE_NAMES.flatMap((engine) =>
  readFixtures(new URL(`../engines/${engine}/fixtures/`, import.meta.url)).map(
    (fixture) => [`${engine} ${fixture.name}`, engine, fixture] as const,
  ),
);

const acpFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(readFileSync(acpFile, 'utf8')) as AnySchemaObject, 'acp');
const isAcp = ajv.compile({ $ref: 'acp#/$defs/SessionNotification' });

/** Lists the text of the agent's messages, in the order they were completed. */
function listFinalTexts(events: readonly FcmpEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'assistant.message.final' ? [event.data.text] : []));
}

function listAgUiTexts(events: readonly AgUiEvent[]): string[] {
  const texts = new Map<string, string>();
  const finishedTexts: string[] = [];
  for (const event of events) {
    if (event.type === 'TEXT_MESSAGE_START' && event.role === 'assistant') texts.set(event.messageId, '');
    const text = 'messageId' in event ? texts.get(event.messageId) : undefined;
    if (text === undefined) continue;
    if (event.type === 'TEXT_MESSAGE_CONTENT') texts.set(event.messageId, text + event.delta);
    if (event.type === 'TEXT_MESSAGE_END') finishedTexts.push(text);
  }
  return finishedTexts;
}

function joinAcpText(events: readonly FcmpEvent[]): string {
  return toAcp(events)
    .map(({ update }) => (update.sessionUpdate === 'agent_message_chunk' ? update.content.text : ''))
    .join('');
}

describe('the recordings of all engines', () => {
  test('exist', () => {
    expect(recordings.length).toBeGreaterThan(100);
  });

  test.each(recordings)('become valid AG-UI and ACP with every message once: %s', (_, engine, fixture) => {
    const events = selectFcmp(translateFixture(fixture, engine).emitted);
    const translated = toAgUi(events);
    expect(listBrokenRules(translated)).toEqual([]);
    expect(translated.map((event) => EventSchemas.parse(event))).toEqual(translated);
    expect(listAgUiTexts(translated)).toEqual(listFinalTexts(events));
    expect(toAcp(events).filter((notification) => !isAcp(notification))).toEqual([]);
    expect(joinAcpText(events)).toBe(listFinalTexts(events).join(''));
  });
});
