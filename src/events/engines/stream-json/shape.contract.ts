import { describe, expect, it } from 'vitest';
import { selectRasp } from '../../contract/emitted-invariants.contract.js';
import { readFixtures, translateFixture } from '../../contract/engine-fixture.contract.js';
import { translateLines } from '../../contract/translate-lines.contract.js';
import type { Translated } from '../../contract/translate-lines.contract.js';
import type { EngineName } from '../../protocol/engine-names.js';
import type { Engine } from '../engine.js';

/*
 * Records in Claude Code's format, for tests.
 */

interface Envelope {
  readonly parent?: string | null;
  readonly session?: string;
  readonly id?: string;
}

/** A block of a message. */
type Block = Readonly<Record<string, unknown>>;

export const text = (words: string): Block => ({ type: 'text', text: words });

export const thinking = (words: string): Block => ({ type: 'thinking', thinking: words, signature: 's' });

export const toolUse = (id: string, name = 'Bash', input: object = { command: 'ls' }): Block => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const toolResult = (id: string, content: unknown = 'ok', isError = false): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  is_error: isError,
});

function envelope({ parent = null, session = 's-1' }: Envelope): object {
  return { parent_tool_use_id: parent, session_id: session, uuid: 'u' };
}

export function system(subtype: string, fields: object = {}, session = 's-1'): object {
  return { type: 'system', subtype, session_id: session, uuid: 'u', ...fields };
}

export const init = (session = 's-1'): object => system('init', { model: 'm', tools: [] }, session);

export function assistant(blocks: readonly Block[], options: Envelope = {}): object {
  const message = { id: options.id ?? 'msg_1', type: 'message', role: 'assistant', model: 'm', content: blocks };
  return { type: 'assistant', ...envelope(options), message };
}

export function user(content: string | readonly Block[], options: Envelope = {}): object {
  return { type: 'user', ...envelope(options), message: { role: 'user', content } };
}

export function streamEvent(event: object, options: Envelope = {}): object {
  return { type: 'stream_event', ...envelope(options), event };
}

export function result(fields: object = {}, session = 's-1'): object {
  const outcome = { subtype: 'success', is_error: false, num_turns: 1, permission_denials: [] };
  return { type: 'result', session_id: session, uuid: 'u', duration_ms: 5, duration_api_ms: 4, ...outcome, ...fields };
}

/** Creates the stream events of one block, without its end. */
export function streamBlock(block: Block, cut: readonly string[], options: Envelope = {}): readonly object[] {
  const isText = block['type'] === 'text';
  const start = { type: 'content_block_start', index: 0, content_block: isText ? text('') : thinking('') };
  const deltas = cut.map((piece) => ({
    type: 'content_block_delta',
    index: 0,
    delta: isText ? { type: 'text_delta', text: piece } : { type: 'thinking_delta', thinking: piece },
  }));
  return [start, ...deltas].map((event) => streamEvent(event, options));
}

export const messageStart = (id = 'msg_1', options: Envelope = {}): object =>
  streamEvent({ type: 'message_start', message: { id, role: 'assistant', model: 'm', content: [] } }, options);

export const blockStop = (options: Envelope = {}): object =>
  streamEvent({ type: 'content_block_stop', index: 0 }, options);

export const messageStop = (options: Envelope = {}): object => streamEvent({ type: 'message_stop' }, options);

/** The contract for recordings of all CLIs with this format. */
export function describeShapeRecordings(engine: EngineName, fixtures: URL): void {
  describe(`the ${engine} recordings`, () => {
    const recordings = readFixtures(fixtures).map((fixture) => [fixture.name, fixture] as const);
    const recordedOutputs = recordings.filter(
      ([name, { attempts }]) =>
        !name.endsWith('.text') && attempts.every(({ pushes }) => pushes.some(({ stream }) => stream === 'stdout')),
    );

    it.each(recordings)('contain only known fields: %s', (_, fixture) => {
      const { translators } = translateFixture(fixture, engine);
      expect(translators.map((translator) => translator.drift())).toEqual(translators.map(() => null));
    });

    it.each(recordedOutputs)('are distinguished from recordings of other CLIs: %s', (_, fixture) => {
      const engines = selectRasp(translateFixture(fixture, 'auto').emitted).map(({ source }) => source.engine);
      expect(new Set(engines)).toEqual(new Set([engine]));
    });

    const withTerminal = recordedOutputs.filter(([, { attempts }]) =>
      attempts.every(({ terminal }) => terminal.length > 0),
    );
    const streamRecordings = withTerminal.filter(([name]) => name.includes('.stream-json'));
    it.each(streamRecordings)('are read from a terminal: %s', (_, fixture) => {
      for (const { terminal } of fixture.attempts) {
        const translated = translateLines({ engine, pty: [new TextDecoder().decode(terminal)] });
        expect(translated.rasp('lifecycle.run.status')[0]).toMatchObject({ status: 'init' });
        expect(translated.warnings).not.toContain('TRUNCATED_RECORD');
      }
    });
  });
}

/** Lists the types with known fields whose shape matches, by the first group of the pattern. */
export function listTypes({ fields }: Engine, shape: RegExp): string[] {
  return [...(fields ?? new Map<string, unknown>()).keys()].flatMap((name) => shape.exec(name)?.[1] ?? []);
}

/** Lists the records that became raw as a whole, not only their unknown fields. */
export function listRawRecords({ of }: Translated): string[] {
  return of('raw.stdout').flatMap(({ text: source }) => (source.includes('"session_id"') ? [source] : []));
}
