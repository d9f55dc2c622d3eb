import { isDeepStrictEqual } from 'node:util';
import { errorMessageOf } from '../../base/index.js';
import { getRunMode } from '../attempts/run-context.js';
import type { RunContext } from '../attempts/run-context.js';
import type { CachedResult } from './result-cache.js';
import { hasChanges } from '../result/merge-fs-diffs.js';
import type { RunResult } from '../../records/index.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { AnswerCollector } from '../judge/answer.js';

/**
 * The kept result of a run that was asked the same; undefined if there is none that still counts. Its value must pass
 * the schema as it is now: what a library's schema checks is not all in the key.
 */
export async function findCachedResult(context: RunContext, key: string): Promise<CachedResult | undefined> {
  const { spec, ports, schema } = context;
  if (spec.cache !== true) return undefined;
  try {
    const kept = await ports.cache.find(key);
    if (kept === undefined || spec.contract === undefined || schema === undefined) return kept;
    const checked = await schema['~standard'].validate(kept.result.value);
    return checked.issues === undefined && isDeepStrictEqual(checked.value, kept.result.value) ? kept : undefined;
  } catch (error) {
    ports.logger.warn('the cache of results cannot be read', { run_id: context.id, error: errorMessageOf(error) });
    return undefined;
  }
}

/** Keeps a result if it may be given again. A cache that fails does not fail the run. */
export async function cacheResult(context: RunContext, key: string, result: RunResult): Promise<void> {
  const { ports, id, progress } = context;
  if (progress.replies > 0 || !isCacheable(result)) return;
  try {
    const kept_at = new Date(ports.clock()).toISOString();
    await ports.cache.keep(key, { run_id: id, result, kept_at });
  } catch (error) {
    ports.logger.warn('a result could not be kept', { run_id: id, error: errorMessageOf(error) });
  }
}

/** Warnings of a success that is not whole, or against which something speaks. */
const DOUBTS: ReadonlySet<string> = new Set([
  'PARTIAL_VALUE',
  'TERMINAL_STATUS_COMPLETION_CONFLICT',
  'ARTIFACTS_INCOMPLETE',
]);

/** Whether a result may be given again: a success without doubt that changed no files and that JSON can hold. */
function isCacheable(result: RunResult): boolean {
  if (result.status !== 'success' || hasChanges(result.artifacts)) return false;
  if (result.warnings.some(({ code }) => DOUBTS.has(code))) return false;
  if (result.value === undefined) return result.text !== undefined;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(result.value)), result.value);
}

/**
 * Tells a kept result as if it had just been said: an attempt without a process, whose output is the value. It is
 * recorded like any other, so it can be replayed, and names the run it came from.
 */
export async function emitCachedResult(context: RunContext, kept: CachedResult): Promise<RunResult> {
  const { id, folder, journal, ports, progress, spec } = context;
  progress.attempts = 1;
  const start = {
    runId: id,
    attempt: 1,
    engine: 'generic',
    reads: 'generic',
    mode: getRunMode(context),
    fcmpSeq: 0,
    sessionId: null,
    reply: null,
    cachedFrom: kept.run_id,
    answer: new AnswerCollector('messages'),
  } as const;
  const record = new AttemptRecord(start, folder, journal, ports.clock);
  try {
    await record.begin({ input: '' });
    // Nothing was used, and nothing was started.
    const { value, usage: _usage, process: _process, ...result } = kept.result;
    const said = value === undefined ? (result.text ?? '') : JSON.stringify(value);
    await record.keep([{ stream: 'stdout', bytes: Buffer.from(`${said}\n`), ms: record.now() }]);
    // Only a clean exit is kept.
    const verdict = spec.contract === undefined ? 'no_contract' : 'validated';
    const { events } = await record.end({ exitCode: 0, signal: null, verdict });
    await record.emitEnd(events);
    progress.fcmpSeq = record.fcmpSeq;
    const given = value === undefined ? {} : { value };
    return { ...result, ...given, attempts: 1, session_id: null, cached_from: kept.run_id };
  } finally {
    await record.close();
  }
}
