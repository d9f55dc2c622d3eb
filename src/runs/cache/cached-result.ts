import { createHash } from 'node:crypto';
import { dirname, join, posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lstat, rm, utimes } from 'node:fs/promises';
import { getErrorCode, getErrorMessage, omitUndefined, type ReadableFile } from '../../base/index.js';
import type { RunContext } from '../attempts/run-context.js';
import { AttemptRecord } from '../capture/attempt-record.js';
import { AnswerCollector } from '../judge/answer.js';
import { RunNotStartedError } from '../launch/working-folder.js';
import { selectAgentEnvironment } from '../launch/prepare-launch.js';
import { hasChanges } from '../result/run-findings.js';
import type { RunResult } from '../../store/records/index.js';
import { compileSecrets } from '../secrets/compile-secrets.js';
import { listSensitiveValues } from '../secrets/environment.js';
import type { CachedFile, CachedResult } from '../../store/ports/index.js';
import type { FsDiff } from '../../events/index.js';
import { beginReplacement, makeFolder, makeFolderBelow, openForReading, readSpan } from '../../base/files/index.js';
import { evictOldest } from './evict-oldest.js';
import { isWorkPath } from '../run-folder/index.js';

/** Returns the cached result of an identical run if its value passes the current schema. */
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
  const cached_at = new Date(ports.clock()).toISOString();
  const { files } = storedFiles;
  await ports.cache.cacheResult(key, { run_id: id, result, cached_at, ...(files.length === 0 ? {} : { files }) });
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
  const { spec } = context;
  const answer = new AnswerCollector('messages');
  const record = new AttemptRecord(context, { sessionId: null, reply: null, answer, cachedFrom: cached.run_id });
  try {
    await record.begin({ input: '' });
    // Without usage and process: nothing was used, and nothing was started.
    const { value, usage: _usage, process: _process, ...result } = cached.result;
    const output = value === undefined ? (result.text ?? '') : JSON.stringify(value);
    await record.write([{ stream: 'stdout', bytes: Buffer.from(`${output}\n`), ms: record.now() }]);
    // Only successful results are cached.
    const verdict = spec.contract === undefined ? 'no_contract' : 'validated';
    const changes = hasChanges(result.artifacts) ? { fsDiff: result.artifacts } : {};
    await record.end({ exitCode: 0, signal: null, verdict, ...changes });
    const ended = { captured: record.captured, attempts: 1, session_id: null, cached_from: cached.run_id };
    return { ...result, ...omitUndefined({ value }), ...ended };
  } finally {
    await record.close();
  }
}

const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const MAX_RESULT_FILES = 1000;

/** Limits on all stored results; the least recently used is evicted first. */
const STORE_LIMITS = { files: 20_000, bytes: 1024 * 1024 * 1024 };

interface FilesToStore {
  readonly workdir: string;
  readonly artifacts: FsDiff;
  /** Files whose content before the run is part of the key. */
  readonly inputFiles: readonly string[];
  readonly hasSecret: (content: Uint8Array) => boolean;
}

/**
 * Stores the files a run has written, each under its content hash, for a cached result to restore; if that is
 * impossible, returns the reason. A modified file must be an input file, which is part of the key; otherwise restoring
 * it could overwrite a different version.
 */
export async function storeFiles(
  store: string,
  { workdir, artifacts, inputFiles, hasSecret }: FilesToStore,
  limits = STORE_LIMITS,
): Promise<{ readonly files: readonly CachedFile[] } | { readonly reason: string }> {
  const { created, modified, deleted } = artifacts;
  const inputs = new Set(inputFiles.map((path) => posix.normalize(path)));
  const unknown = modified.find((path) => !inputs.has(path));
  if (deleted[0] !== undefined) return { reason: `the run deleted ${deleted[0]}` };
  if (unknown !== undefined) return { reason: `the run modified ${unknown}, which is not one of its input_files` };
  const changes = [
    ...created.map((path) => ({ path, change: 'created' as const })),
    ...modified.map((path) => ({ path, change: 'modified' as const })),
  ];
  if (changes.length > MAX_RESULT_FILES) return { reason: `the run wrote more than ${MAX_RESULT_FILES} files` };
  const files: CachedFile[] = [];
  let remainingBytes = MAX_RESULT_BYTES;
  for (const { path, change } of changes) {
    if (!isWorkPath(path)) return { reason: `${path} cannot be restored: it is outside the working folder or in .git` };
    let content: Content | 'missing' | 'too large';
    try {
      content = await readContent(await openForReading(join(workdir, path)), remainingBytes);
    } catch (error) {
      return { reason: getErrorMessage(error).replace(/\.$/, '') };
    }
    if (content === 'too large') return { reason: `the run wrote more than ${MAX_RESULT_BYTES} bytes` };
    if (content === 'missing') return { reason: `${path} no longer exists` };
    const { bytes, executable } = content;
    if (hasSecret(bytes)) return { reason: `${path} contains a secret` };
    remainingBytes -= bytes.length;
    const sha256 = hashBytes(bytes);
    await makeFolder(store);
    await writeContent(join(store, sha256), bytes, () => 0o600);
    files.push({ path, change, sha256, executable });
  }
  if (files.length > 0) await evictOldest(store, limits);
  return { files };
}

/**
 * Writes a cached result's files to a working folder. Returns false, without writing anything, if a stored file is
 * missing or a file created by the run already exists with different content.
 */
export async function restoreFiles(store: string, workdir: string, files: readonly CachedFile[]): Promise<boolean> {
  const pending: { readonly file: CachedFile; readonly bytes: Buffer }[] = [];
  let remainingBytes = MAX_RESULT_BYTES;
  for (const file of files) {
    if (!isWorkPath(file.path) || !/^[0-9a-f]{64}$/.test(file.sha256)) return false;
    const source = join(store, file.sha256);
    const handle = await openForReading(source).catch(() => undefined);
    const content = await readContent(handle, remainingBytes).catch(() => 'missing' as const);
    if (typeof content === 'string') return false;
    const { bytes } = content;
    if (hashBytes(bytes) !== file.sha256) {
      await rm(source, { force: true });
      return false;
    }
    remainingBytes -= bytes.length;
    const existing = await compareFile(join(workdir, file.path), bytes);
    if (existing === 'different' && file.change === 'created') return false;
    if (existing !== 'same') pending.push({ file, bytes });
    await utimes(source, new Date(), new Date()).catch(() => undefined);
  }
  try {
    for (const { file } of pending) await makeFolderBelow(dirname(join(workdir, file.path)), workdir, 0o777);
  } catch {
    // A link or a file is in the place of a folder.
    return false;
  }
  for (const { file, bytes } of pending) {
    const path = join(workdir, file.path);
    await writeContent(path, bytes, file.executable ? addExecuteBits : undefined);
  }
  return true;
}

interface Content {
  readonly bytes: Buffer;
  readonly executable: boolean;
}

/** Reads an opened file and closes it; `missing` if it was not opened. */
export async function readContent(
  handle: ReadableFile | undefined,
  maxBytes: number,
): Promise<Content | 'missing' | 'too large'> {
  if (handle === undefined) return 'missing';
  try {
    const stats = await handle.stat();
    if (stats.size > maxBytes) return 'too large';
    const { mode = 0 } = stats as { readonly mode?: number };
    return { bytes: await readSpan(handle, 0, stats.size), executable: (mode & 0o100) !== 0 };
  } finally {
    await handle.close();
  }
}

/** Compares a file in the working folder; anything but a regular file with these bytes is different. */
async function compareFile(path: string, bytes: Buffer): Promise<'missing' | 'same' | 'different'> {
  try {
    if ((await lstat(path)).size !== bytes.length) return 'different';
    const content = await readContent(await openForReading(path), bytes.length);
    if (content === 'missing') return content;
    return content !== 'too large' && content.bytes.equals(bytes) ? 'same' : 'different';
  } catch (error) {
    return getErrorCode(error) === 'ENOENT' ? 'missing' : 'different';
  }
}

/** Adds execute permission wherever there is read permission. */
function addExecuteBits(mode: number): number {
  return mode | ((mode & 0o444) >> 2);
}

async function writeContent(path: string, bytes: Buffer, changeMode?: (mode: number) => number): Promise<void> {
  const replacement = await beginReplacement(path);
  try {
    await replacement.file.writeFile(bytes);
    if (changeMode !== undefined)
      await replacement.file.chmod(changeMode((await replacement.file.stat()).mode & 0o777));
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
