import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findDataFolder } from '../../base/files/index.js';
import { expect } from 'vitest';
import { replayRunFolder } from '../run-folder/index.js';
import { expectInOrder, expectValid, selectFcmp } from '../../events/contract/emitted-invariants.contract.js';
import { decodeLine } from '../../events/index.js';
import type { Emitted, FcmpEvent } from '../../events/index.js';
import type { RunPorts } from '../ports/run-ports.js';
import type { RunResult } from '../../store/records/run-result.js';
import type { RunSpec } from '../../store/records/run-spec.js';
import { startRun } from '../start-run.js';
import type { Run } from '../start-run.js';

/** A run that has been read to its end. */
export interface EndedRun {
  readonly run: Run;
  readonly dir: string;
  readonly events: readonly Emitted[];
  readonly fcmp: readonly FcmpEvent[];
  readonly types: readonly string[];
  readonly result: RunResult;
  /** Returns the content of a file in `.audit`; empty if the file does not exist. */
  readonly file: (name: string) => Promise<string>;
  readonly meta: (attempt: number) => Promise<Record<string, unknown>>;
}

/** Starts a run, answers its questions in order, reads it to its end, and checks the invariants of every run. */
export async function runToEnd(
  spec: RunSpec,
  ports: RunPorts,
  during: { readonly replies?: readonly string[]; readonly onEvent?: (event: FcmpEvent, run: Run) => void } = {},
): Promise<EndedRun> {
  const run = startRun(spec, ports);
  const replies = [...(during.replies ?? [])];
  const events: Emitted[] = [];
  for await (const emitted of run.events) {
    events.push(emitted);
    if (emitted.protocol !== 'fcmp') continue;
    during.onEvent?.(emitted.event, run);
    const reply = emitted.event.type === 'user.input.required' ? replies.shift() : undefined;
    if (reply !== undefined) await run.reply(reply);
  }
  const result = await run.result;
  const dir = join(ports.data ?? findDataFolder(), 'runs', run.id);
  const file = async (name: string): Promise<string> => readFile(join(dir, '.audit', name), 'utf8').catch(() => '');
  const fcmp = selectFcmp(events);
  const ended: EndedRun = {
    run,
    dir,
    events,
    fcmp,
    types: fcmp.map(({ type }) => type),
    result,
    file,
    meta: async (attempt) => JSON.parse(await file(`meta.${attempt}.json`)) as Record<string, unknown>,
  };
  await expectConsistent(ended, ports);
  return ended;
}

/** Asserts the invariants of every run: valid events, one end, a consistent result, and the same events live, in the files and in
 * a replay. */
async function expectConsistent({ dir, events, fcmp, result, file }: EndedRun, { engines }: RunPorts): Promise<void> {
  expectValid(events);
  expectOneEnd(events);
  expect(readLines(await file('fcmp.jsonl'))).toEqual(fcmp.map((event) => JSON.stringify(event)));
  const rasp = events.flatMap(({ protocol, event }) => (protocol === 'rasp' ? [JSON.stringify(event)] : []));
  expect(readLines(await file('events.jsonl'))).toEqual(rasp);
  expect(await replayRunFolder(dir, { engines })).toMatchObject({ status: 'same' });
  expectAgreement(fcmp.at(-1), result);
}

function readLines(text: string): string[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.flatMap((line) => decodeLine(line) ?? []).map((event) => JSON.stringify(event));
}

function expectOneEnd(events: readonly Emitted[]): void {
  const getAttempt = ({ protocol, event }: Emitted): number =>
    protocol === 'rasp' ? event.attempt_number : event.meta.attempt;
  let fcmpSeq = 0;
  for (const number of new Set(events.map(getAttempt))) {
    const attempt = events.filter((emitted) => getAttempt(emitted) === number);
    expectInOrder(attempt, fcmpSeq);
    fcmpSeq = selectFcmp(attempt).at(-1)?.seq ?? fcmpSeq;
  }
  const ends = selectFcmp(events).filter(
    ({ type }) => type === 'conversation.completed' || type === 'conversation.failed',
  );
  expect(ends.length).toBeLessThanOrEqual(1);
}

function expectAgreement(last: FcmpEvent | undefined, { status, error }: RunResult): void {
  if (last?.type === 'conversation.completed') {
    expect(status).toBe(last.data.reason_code === 'OUTPUT_DEGRADED_TO_COMMENT' ? 'comment' : 'success');
  } else if (last?.type === 'conversation.failed') {
    expect(status).toBe(last.data.error.category === 'canceled' ? 'canceled' : 'failed');
    expect(error).toMatchObject(last.data.error);
  } else {
    expect(status).toBe('failed');
  }
}
