import { createTranslator } from '../../src/events/index.js';
import type { Emitted } from '../../src/events/index.js';
import { codex, toBytes } from '../../src/events/contract/translate-lines.contract.js';
import type { RunResult } from '../../src/store/records/run-result.js';
import { createUlidGenerator } from '../../src/base/ulid.js';
import { openStore } from '../../src/store/open-store.js';
import { Random } from '../../bench/random.js';

const DAY_MS = 86_400_000;
const ENGINES = ['codex', 'claude', 'gemini'] as const;
const PROMPTS = [
  'Fix the test that fails on Mondays.',
  'Write the notes of the release.',
  'Look for unused exports.',
  'Review how the list is sorted.',
  'Explain what the importer does with empty files.',
] as const;
const WORKER = 'history';
const BATCH_SIZE = 100;

/** Creates runs from the last days, as in an installation in use; the same runs for the same seed. */
export async function seedHistory(
  data: string,
  { days = 7, perDay = 40, now = Date.now(), seed = 8, hasEvents = true } = {},
): Promise<void> {
  const random = new Random(seed);
  const store = await openStore(`sqlite:${data}/sluice.db`);
  try {
    const runs: (() => Promise<void>)[] = [];
    for (let at = now - days * DAY_MS; at < now; at += random.below((2 * DAY_MS) / perDay)) {
      const engine = random.pick(ENGINES);
      const id = createUlidGenerator(() => at)();
      const spec = { engine, prompt: random.pick(PROMPTS), workdir: '/srv/shop' };
      const durationMs = 4000 + random.below(60_000) + (engine === 'gemini' ? 30_000 : 0);
      const result = createResult(random, engine);
      const startedAt = at;
      runs.push(async () => {
        await store.createRun({ id, spec, state: 'running', workerId: WORKER, leaseMs: DAY_MS, now: startedAt });
        if (hasEvents) await store.append(id, createEvents(id, startedAt));
        await store.endRun({ id, workerId: WORKER, result, now: startedAt + durationMs });
      });
    }
    // Many concurrently, because the store batches writes.
    for (let from = 0; from < runs.length; from += BATCH_SIZE) {
      await Promise.all(runs.slice(from, from + BATCH_SIZE).map(async (run) => run()));
    }
  } finally {
    await store.close();
  }
}

function createEvents(runId: string, at: number): readonly Emitted[] {
  const translator = createTranslator({ engine: 'codex', runId, attempt: 1, mode: 'auto', clock: () => at });
  const records = [codex.thread(), codex.message('Done.'), codex.completed()];
  const events = translator.push('stdout', toBytes(records));
  return [...events, ...translator.end({ exitCode: 0, signal: null, verdict: 'validated' })];
}

const MODELS = { codex: 'gpt-5-codex', claude: 'claude-opus-4-5', gemini: 'gemini-3-pro' } as const;

function createResult(random: Random, engine: (typeof ENGINES)[number]): RunResult {
  const input = 2000 + random.below(60_000);
  const output = 200 + random.below(4000);
  const commonFields = {
    warnings: [],
    artifacts: { created: [], modified: [], deleted: [] },
    attempts: 1,
    session_id: null,
    model: MODELS[engine],
    usage: {
      scope: 'total',
      input_tokens: input,
      cached_input_tokens: Math.floor(input / 2),
      output_tokens: output,
      ...(engine === 'gemini' ? {} : { cost: (input * 2 + output * 10) / 1_000_000 }),
    },
  } as const;
  if (random.chance(0.12)) {
    const message = 'The output did not pass the contract schema.';
    const error = { category: 'output', code: 'OUTPUT_NOT_VALIDATED', message } as const;
    return { ...commonFields, status: 'failed', repair_level: 'none', error };
  }
  if (random.chance(0.05)) return { ...commonFields, status: 'canceled', repair_level: 'none' };
  const repair_level = random.chance(0.3) ? 'deterministic_generic' : 'none';
  const drift = random.chance(0.1) ? { drift: { unknown_types: 1, unknown_fields: 2 } } : {};
  return { ...commonFields, status: 'success', repair_level, ...drift };
}
