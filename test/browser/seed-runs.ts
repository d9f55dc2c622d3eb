import { createUlidGenerator } from '../../src/base/ulid.js';
import { codex, toBytes } from '../../src/events/contract/translate-lines.contract.js';
import { createTranslator, type FcmpEvent } from '../../src/events/index.js';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { openStore } from '../../src/store/open-store.js';
import type { RunResult } from '../../src/store/records/run-result.js';
import { session } from './codex-lines.js';

/** How long the agent of {@link seedPermission} waits. */
export const WAIT_S = 86_400;

/** The entry of a permission request. */
export type Permission = Extract<WaitingEntry, { kind: 'permission' }>;

/** The options of {@link REQUEST}. */
export const OPTIONS: Permission['options'] = [
  { id: 'yes', label: 'Allow once', kind: 'allow_once' },
  { id: 'all', label: 'Yes', kind: 'allow_always' },
  { id: 'no', label: 'Deny', kind: 'reject_once' },
];

/** Creates an event of Claude. */
export function createEvent(run: string, seq: number, type: FcmpEvent['type'], data: object, attempt = 1): FcmpEvent {
  return {
    protocol_version: 'fcmp/1.2',
    run_id: run,
    seq,
    ts: new Date().toISOString(),
    engine: 'claude',
    type,
    data,
    meta: { attempt },
    correlation: {},
    raw_ref: null,
  } as unknown as FcmpEvent;
}

/** A request to edit a file. */
export const REQUEST = {
  interaction_id: 'px_1_1',
  tool_call_id: 't1',
  tool: 'Edit',
  input: { file_path: 'src/total.ts' },
  diff: [{ path: 'src/total.ts', old_text: 'a\nb\nc\n', new_text: 'x\ny\nz\n' }],
  options: OPTIONS,
};

/** Creates a run of another worker whose agent waits for a permission. */
export async function seedPermission(data: string): Promise<string> {
  const now = Date.now();
  const id = createUlidGenerator(() => now)();
  const store = await openStore(`sqlite:${data}/sluice.db`);
  try {
    // Held as long: near the end a grant is sent without the time to withdraw it, and a slow host gets there.
    const limits = { hold_s: WAIT_S, wait_s: WAIT_S };
    const spec = { engine: 'claude', prompt: 'Fix the total.', workdir: '/srv/shop', limits };
    await store.createRun({ id, spec, state: 'running', workerId: 'elsewhere', leaseMs: 86_400_000, now });
    const started = createEvent(id, 1, 'conversation.started', { session_id: 's' });
    const events = [started, createEvent(id, 2, 'permission.required', REQUEST)];
    await store.append(
      id,
      events.map((event) => ({ protocol: 'fcmp', event })),
    );
    await store.setWaiting({ id, workerId: 'elsewhere', now });
  } finally {
    await store.close();
  }
  return id;
}

const REJECTED = 'The output did not pass the contract schema: SCHEMA_MISMATCH at size.';

/** Creates a run whose first answer was rejected and sent back; without a second answer, that one was rejected too. */
export async function seedRetriedRun(data: string, answer: string | null, workdir = '/srv/shop'): Promise<string> {
  const at = Date.now() - 60_000;
  const id = createUlidGenerator(() => at)();
  const common = { engine: 'codex', runId: id, mode: 'auto', clock: () => at } as const;
  const first = createTranslator({ ...common, attempt: 1 });
  const rejected = [
    ...first.push('stdout', toBytes(session(codex.message('{"colour": "blue"}')))),
    ...first.end({ exitCode: 0, signal: null, verdict: 'retry', reason: REJECTED }),
  ];
  const fcmpSeq = rejected.filter(({ protocol }) => protocol === 'fcmp').length;
  const second = createTranslator({ ...common, attempt: 2, fcmpSeq });
  const verdict = answer === null ? 'not_validated' : 'validated';
  const last = [
    ...second.push('stdout', toBytes(session(codex.message(answer ?? '{"colour": "red"}', 'item_1')))),
    ...second.end({ exitCode: 0, signal: null, verdict, reason: REJECTED }),
  ];
  const error = { category: 'output', code: 'OUTPUT_NOT_VALIDATED', message: REJECTED } as const;
  const shared = {
    repair_level: 'none',
    warnings: [],
    artifacts: { created: [], modified: [], deleted: [] },
    attempts: 2,
    session_id: null,
  } as const;
  const result: RunResult =
    answer === null ? { ...shared, status: 'failed', error } : { ...shared, status: 'success', value: {} };
  const store = await openStore(`sqlite:${data}/sluice.db`);
  try {
    const spec = {
      engine: 'codex',
      prompt: 'Choose a size.',
      workdir,
      contract: { schema: { required: ['size'] } },
      max_retries: 1,
    };
    await store.createRun({ id, spec, state: 'running', workerId: 'past', leaseMs: 86_400_000, now: at });
    await store.append(id, [...rejected, ...last]);
    await store.endRun({ id, workerId: 'past', result, now: at + 5000 });
  } finally {
    await store.close();
  }
  return id;
}
