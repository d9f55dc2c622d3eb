import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { SessionNotification } from '@agentclientprotocol/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { anyConversation, createConversation } from '../fixtures/conversation.js';
import type { EventContent } from '../fixtures/conversation.js';
import type { AcpSessionNotification, AcpUpdate } from './acp.js';
import { createAcpProjection, toAcp } from './acp.js';

const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk/schema/v1/schema.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const publishedSchema: unknown = JSON.parse(readFileSync(schemaFile, 'utf8'));
ajv.addSchema(publishedSchema as AnySchemaObject, 'acp');
const validate = ajv.compile({ $ref: 'acp#/$defs/SessionNotification' });

const completed: EventContent = {
  type: 'conversation.completed',
  data: { state: 'completed', reason_code: 'DONE_MARKER_FOUND' },
};

function projectUpdates(...attempts: readonly (readonly EventContent[])[]): AcpUpdate[] {
  return toAcp(createConversation(...attempts)).map((notification) => notification.update);
}

/** A call is updated only between its announcement and its end, and always ends; no chunk is empty. */
function listBrokenRules(translated: readonly AcpUpdate[]): string[] {
  const violations: string[] = [];
  const open = new Set<string>();
  for (const update of translated) {
    if (update.sessionUpdate === 'tool_call') {
      if (open.has(update.toolCallId)) violations.push(`${update.toolCallId} is announced twice`);
      open.add(update.toolCallId);
    } else if (update.sessionUpdate === 'tool_call_update') {
      if (!open.delete(update.toolCallId)) violations.push(`${update.toolCallId} is updated while not open`);
    } else if ('content' in update && update.content.text === '') violations.push('an empty chunk');
  }
  for (const toolCallId of open) violations.push(`${toolCallId} is never closed`);
  return violations;
}

describe('toAcp', () => {
  test('a message is a chunk of the session, which is the Sluice run', () => {
    expect(
      toAcp(createConversation([{ type: 'assistant.message.final', data: { message_id: 'm_1_1', text: 'Hello.' } }])),
    ).toEqual([
      {
        sessionId: 'run-1',
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello.' }, messageId: 'm_1_1' },
      },
    ]);
  });

  test('a final that follows its deltas adds only what they lack', () => {
    const translated = projectUpdates([
      { type: 'assistant.message.delta', data: { message_id: 'm', text: 'Hel' } },
      { type: 'assistant.message.delta', data: { message_id: 'm', text: '' } },
      { type: 'assistant.message.final', data: { message_id: 'm', text: 'Hello' } },
      { type: 'assistant.message.delta', data: { message_id: 'n', text: 'Bye' } },
      { type: 'assistant.message.final', data: { message_id: 'n', text: 'Bye' } },
    ]);
    expect(
      translated.map((update) => (update.sessionUpdate === 'agent_message_chunk' ? update.content.text : update)),
    ).toEqual(['Hel', 'lo', 'Bye']);
  });

  test('a final that contradicts its deltas is reported in full separately', () => {
    const data = { message_id: 'm', text: 'Hello' };
    const translated = projectUpdates([
      { type: 'assistant.message.delta', data: { message_id: 'm', text: 'Hullo' } },
      { type: 'assistant.message.final', data },
    ]);
    expect(translated.at(-1)).toMatchObject({
      sessionUpdate: 'session_info_update',
      _meta: { sluice: { type: 'assistant.message.final', data } },
    });
  });

  test('reasoning becomes thoughts, and a reply a user message', () => {
    expect(
      projectUpdates(
        [{ type: 'assistant.reasoning', data: { text: 'Hm.' } }],
        [{ type: 'user.input.replied', data: { interaction_id: 'ix_1', text: 'Yes' } }],
      ),
    ).toEqual([
      { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' }, messageId: 'reasoning_1_1' },
      { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Yes' }, messageId: 'ix_1_reply' },
    ]);
  });

  test('a tool call is announced once and updated when it ends', () => {
    const call = { tool_call_id: 't', name: 'Bash', input: { command: 'ls' } };
    expect(
      projectUpdates([
        { type: 'assistant.tool_call', data: { ...call, status: 'started' } },
        { type: 'assistant.tool_call', data: { ...call, status: 'completed', output: 'a.txt' } },
      ]),
    ).toEqual([
      {
        sessionUpdate: 'tool_call',
        toolCallId: 't',
        title: 'ls',
        name: 'Bash',
        kind: 'execute',
        status: 'in_progress',
        rawInput: { command: 'ls' },
      },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: 'a.txt' } }],
        rawOutput: 'a.txt',
      },
    ]);
  });

  test('a call is announced even if only its end is printed, and has failed if it never ends', () => {
    const translated = projectUpdates([
      { type: 'assistant.tool_call', data: { tool_call_id: 't', name: 'read', status: 'failed', error: 'no file' } },
      { type: 'assistant.tool_call', data: { tool_call_id: 'u', name: 'sing', status: 'started' } },
      completed,
    ]);
    expect(translated.slice(0, 4)).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: 't', kind: 'read' },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 't',
        status: 'failed',
        content: [{ content: { text: 'no file' } }],
      },
      { sessionUpdate: 'tool_call', toolCallId: 'u', title: 'sing', kind: 'other' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'u', status: 'failed' },
    ]);
  });

  test('tool ids that a later attempt reuses are kept distinct', () => {
    const call: EventContent = {
      type: 'assistant.tool_call',
      data: { tool_call_id: 'item_1', name: 'Bash', status: 'completed' },
    };
    const ids = projectUpdates([call], [call]).flatMap((update) =>
      update.sessionUpdate === 'tool_call' ? [update.toolCallId] : [],
    );
    expect(ids).toEqual(['item_1', '2:item_1']);
  });

  test('a sub-agent’s messages name the call that started it', () => {
    const [update] = projectUpdates([
      { type: 'assistant.message.final', data: { message_id: 'm', text: 'x', parent_tool_call_id: 't' } },
    ]);
    expect(update).toMatchObject({ _meta: { sluice: { parent_tool_call_id: 't' } } });
  });

  test('events that ACP does not define are passed through unchanged', () => {
    const [update] = projectUpdates([completed]);
    expect(update).toEqual({
      sessionUpdate: 'session_info_update',
      updatedAt: '2026-01-01T00:00:01.000Z',
      _meta: { sluice: { type: 'conversation.completed', data: completed.data, seq: 1 } },
    });
  });

  test('for any FCMP events, the updates are valid and in order', () => {
    fc.assert(
      fc.property(anyConversation, (events) => {
        const translated = toAcp(events);
        expect(translated.filter((notification) => !validate(notification))).toEqual([]);
        expect(listBrokenRules(translated.map((notification) => notification.update))).toEqual([]);
      }),
    );
  });

  test('events projected one at a time are the same as all together', () => {
    fc.assert(
      fc.property(anyConversation, (events) => {
        const projection = createAcpProjection();
        expect([...events.flatMap((event) => projection.push(event)), ...projection.end()]).toEqual(toAcp(events));
      }),
    );
  });

  test('the checks can fail', () => {
    expect(validate({ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk' } })).toBe(false);
    expect(listBrokenRules([{ sessionUpdate: 'tool_call_update', toolCallId: 't', status: 'failed' }])).toEqual([
      't is updated while not open',
    ]);
  });

  test('the types are those of the protocol’s own package', () => {
    expectTypeOf<Mutable<AcpSessionNotification>>().toExtend<SessionNotification>();
  });
});

type Mutable<T> = T extends unknown ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : never;
