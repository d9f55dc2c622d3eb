import type { AttemptEnd } from '../end/attempt-end.js';
import type { Emitted } from '../protocol/translator-output.js';
import type { FcmpData, FcmpEvent, FcmpType } from '../protocol/fcmp-event.js';
import type { RaspData, RaspType } from '../protocol/rasp-event.js';
import { isRasp } from '../protocol/rasp-event.js';
import type { StreamName } from '../protocol/event-parts.js';
import { createTranslator } from '../translator.js';
import type { TranslatorOptions } from '../engines/engine.js';
import type { Translator } from '../translator.js';
import { selectFcmp, selectRasp } from './emitted-invariants.contract.js';

/** A test's input: stdout lines unless stated otherwise, and a clean exit. */
export interface Scenario extends Partial<TranslatorOptions> {
  readonly stdout?: readonly (object | string)[];
  readonly stderr?: readonly (object | string)[];
  readonly pty?: readonly (object | string)[];
  readonly end?: Partial<AttemptEnd>;
}

/** The events of a scenario, and selections of them. */
export interface Translated {
  readonly emitted: readonly Emitted[];
  readonly translator: Translator;
  readonly fcmp: readonly FcmpEvent[];
  /** The data of all FCMP events of a type. */
  readonly of: <Type extends FcmpType>(type: Type) => readonly FcmpData<Type>[];
  /** The data of all RASP events of a type. */
  readonly rasp: <Type extends RaspType>(type: Type) => readonly RaspData<Type>[];
  /** The codes of all warnings. */
  readonly warnings: readonly string[];
  readonly types: readonly string[];
}

const encoder = new TextEncoder();

/** Encodes objects as JSON lines and leaves strings unchanged; every line ends with a newline. */
export function toBytes(lines: readonly (object | string)[]): Uint8Array {
  return encoder.encode(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
}

/** Translates a scenario of lines on stdout, stderr and the terminal, in this order. */
export function translateLines({ stdout = [], stderr = [], pty = [], end = {}, ...options }: Scenario): Translated {
  const translator = createTranslator({ engine: 'codex', runId: 'run-1', attempt: 1, clock: () => 0, ...options });
  const emitted: Emitted[] = [];
  const streams: Readonly<Record<StreamName, readonly (object | string)[]>> = { stdout, stderr, pty };
  for (const stream of ['stdout', 'stderr', 'pty'] as const) {
    if (streams[stream].length > 0) emitted.push(...translator.push(stream, toBytes(streams[stream])));
  }
  emitted.push(...translator.end({ exitCode: 0, signal: null, ...end }));
  const fcmp = selectFcmp(emitted);
  const of = <Type extends FcmpType>(type: Type) =>
    fcmp.flatMap((event) => (event.type === type ? [event.data as FcmpData<Type>] : []));
  const rasp = <Type extends RaspType>(type: Type) =>
    selectRasp(emitted).flatMap((event) => (isRasp(event, type) ? [event.data as RaspData<Type>] : []));
  return {
    emitted,
    translator,
    fcmp,
    of,
    rasp,
    warnings: of('diagnostic.warning').map(({ code }) => code),
    types: fcmp.map(({ type }) => type),
  };
}

/** Codex records for scenarios. */
export const codex = {
  thread: (id = 'thread-1') => ({ type: 'thread.started', thread_id: id }),
  turn: { type: 'turn.started' },
  message: (text: string, id = 'item_0') => ({ type: 'item.completed', item: { id, type: 'agent_message', text } }),
  completed: (input = 10, output = 2) => ({
    type: 'turn.completed',
    usage: { input_tokens: input, output_tokens: output },
  }),
  failed: (message: string) => ({ type: 'turn.failed', error: { message } }),
  command: (phase: 'started' | 'completed', id: string, command = 'ls') => ({
    type: `item.${phase}`,
    item:
      phase === 'started'
        ? { id, type: 'command_execution', command, aggregated_output: '', exit_code: null, status: 'in_progress' }
        : { id, type: 'command_execution', command, aggregated_output: 'out\n', exit_code: 0, status: 'completed' },
  }),
};

export const DONE = '{"__SKILL_DONE__": true}';
