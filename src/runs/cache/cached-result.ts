import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { getErrorMessage } from '../../base/index.js';
import { getRunMode } from '../attempts/run-context.js';
import type { RunContext } from '../attempts/run-context.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { AnswerCollector } from '../judge/answer.js';
import { RunNotStartedError } from '../launch/working-folder.js';
import { selectAgentEnvironment } from '../launch/prepare-launch.js';
import { hasChanges } from '../result/merge-fs-diffs.js';
import type { RunResult } from '../../records/index.js';
import { compileSecrets } from '../secrets/compile-secrets.js';
import { listSensitiveValues } from '../secrets/environment.js';
import { restoreFiles, storeFiles } from './cached-files.js';
import type { CachedResult } from './result-cache.js';

/**
 * Returns the cached result of an identical run, or undefined. Its value must pass the current schema, because the key
 * does not cover everything a schema library can check.
 */
export async function findCachedResult(context: RunContext, key: string): Promise<CachedResult | undefined> {
  const { spec, ports, schema } = context;
  if (spec.cache !== true) return undefined;
  try {
    const cached = await ports.cache.find(key);
    // Changed files cannot be restored without their content.
    if (cached === undefined || (hasChanges(cached.result.artifacts) && cached.files === undefined)) return undefined;
    if (spec.contract === undefined || schema === undefined) return cached;
    const validation = await schema['~standard'].validate(cached.result.value);
    return validation.issues === undefined && isDeepStrictEqual(validation.value, cached.result.value)
      ? cached
      : undefined;
  } catch (error) {
    ports.logger.warn('cannot read the result cache', { run_id: context.id, error: getErrorMessage(error) });
    return undefined;
  }
}

/** Restores the files of a cached result; false if that is not possible. The working folder must be locked. */
export async function restoreCachedFiles(
  { ports }: RunContext,
  workdir: string,
  { files = [] }: CachedResult,
): Promise<boolean> {
  try {
    return await restoreFiles(getFilesFolder(ports.data), workdir, files);
  } catch (error) {
    // Some files might have been restored, and an agent must not mistake them for the user's.
    throw new RunNotStartedError(`Cannot restore the files of the cached result: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

function getFilesFolder(data: string): string {
  return join(data, 'cache', 'files');
}

/** Caches a successful result. If that fails, returns it with a warning that contains the reason. */
export async function cacheResult(
  context: RunContext,
  key: string,
  workdir: string,
  result: RunResult,
): Promise<RunResult> {
  if (result.status !== 'success') return result;
  const reason = await tryToCache(context, key, workdir, result).catch(getErrorMessage);
  if (reason === null) return result;
  context.ports.logger.info('result not cached', { run_id: context.id, reason });
  const message = `The result is not cached: ${reason.replace(/\.$/, '')}.`;
  return { ...result, warnings: [...result.warnings, { code: 'NOT_CACHED', message }] };
}

/** Returns the reason why the result was not cached; null if it was. */
async function tryToCache(
  { ports, id, progress, spec, launcher }: RunContext,
  key: string,
  workdir: string,
  result: RunResult,
): Promise<string | null> {
  if (progress.replies > 0) return 'a user answered the agent’s question';
  const warning = result.warnings.find(({ code }) => UNCACHEABLE_WARNINGS.has(code));
  if (warning !== undefined) return `it has the warning ${warning.code}`;
  if (result.value === undefined && result.text === undefined) return 'the agent printed nothing';
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(result.value ?? null)), result.value ?? null)) {
    return 'its value cannot be written as JSON';
  }
  const environment = selectAgentEnvironment({ spec, launcher, ports });
  const secrets = compileSecrets({ values: listSensitiveValues(environment), patterns: ports.secretPatterns });
  const storedFiles = await storeFiles(getFilesFolder(ports.data), {
    workdir,
    artifacts: result.artifacts,
    inputFiles: spec.input_files ?? [],
    hasSecret: (content) => !Buffer.from(secrets.mask(content)).equals(content),
  });
  if ('reason' in storedFiles) return storedFiles.reason;
  const kept_at = new Date(ports.clock()).toISOString();
  const { files } = storedFiles;
  await ports.cache.cacheResult(key, { run_id: id, result, kept_at, ...(files.length === 0 ? {} : { files }) });
  return null;
}

/** Warnings about a success that is incomplete or contradicted by other evidence. */
const UNCACHEABLE_WARNINGS: ReadonlySet<string> = new Set([
  'PARTIAL_VALUE',
  'TERMINAL_STATUS_COMPLETION_CONFLICT',
  'ARTIFACTS_INCOMPLETE',
  'TEXT_SHORTENED',
  'INVALID_UTF8',
]);

/**
 * Emits a cached result as an attempt without a process, with the value as its output. It is recorded like any other
 * attempt, so it can be replayed. Its `cached_from` is the original run.
 */
export async function emitCachedResult(context: RunContext, cached: CachedResult): Promise<RunResult> {
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
    cachedFrom: cached.run_id,
    terminal: false,
    answer: new AnswerCollector('messages'),
  } as const;
  const record = new AttemptRecord(start, folder, journal, ports.clock);
  try {
    await record.begin({ input: '' });
    // Without usage and process: nothing was used, and nothing was started.
    const { value, usage: _usage, process: _process, ...result } = cached.result;
    const output = value === undefined ? (result.text ?? '') : JSON.stringify(value);
    await record.write([{ stream: 'stdout', bytes: Buffer.from(`${output}\n`), ms: record.now() }]);
    // Only successful results are cached.
    const verdict = spec.contract === undefined ? 'no_contract' : 'validated';
    const changes = hasChanges(result.artifacts) ? { fsDiff: result.artifacts } : {};
    const { events } = await record.end({ exitCode: 0, signal: null, verdict, ...changes });
    await record.emitEnd(events);
    progress.fcmpSeq = record.fcmpSeq;
    const valueField = value === undefined ? {} : { value };
    const { captured } = record;
    return { ...result, ...valueField, captured, attempts: 1, session_id: null, cached_from: cached.run_id };
  } finally {
    await record.close();
  }
}
