import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getErrorCode, omitUndefined, type FromSchema } from '../../base/index.js';
import { getPosition, unpackEvents, type Emitted, type EventPack } from '../../events/index.js';
import { endLost, requestBudget, retryLostPlaces, spendBudget } from '../../orders/dispatch/index.js';
import { pickPlacement, type WorkerEnd } from '../../orders/index.js';
import { MAX_SESSION_PARTS, readManifest, type SessionParts } from '../../runs/archive/index.js';
import type { CachedResult } from '../../store/ports/index.js';
import type { Evidence, Reading, RunRecord, RunResult, RunSpec } from '../../store/records/index.js';
import type { workerCallSchema, workerEndSchema } from '../api/index.js';
import { RequestError } from '../http/problem.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';
import { createNotHeldError, isHeldBy, isOwn } from './worker-fence.js';
import { makeFolder, makeFolderBelow, withFolder } from '../../base/files/index.js';
import { ARTIFACT_FOLDER, getIncomingPath, getRunFolderPath, isArtifactPath } from '../../runs/run-folder/index.js';

export type WorkerCall = FromSchema<typeof workerCallSchema>;

/**
 * Creates the calls of workers. Casts follow the schemas of the endpoint, which have checked these values. The store
 * itself refuses calls of a claim that is no longer valid; all others read the record first.
 */
export function createWorkerCalls(server: ServerContext, leaseMs: number) {
  const { store, data, clock, logger, settings } = server;
  const { workerLostRetries } = server.work;
  const lead = retryLostPlaces(server.lead, { store, lead: server.lead, workerLostRetries });

  const sessions = server.archive?.sessions;

  /** Returns the saved sessions, for a run that the worker holds. */
  async function openSessions(id: string, workerId: string): Promise<SessionParts> {
    await findHeld(id, workerId);
    if (sessions === undefined) throw createNotHeldError();
    return sessions;
  }

  async function findHeld(id: string, workerId: string): Promise<RunRecord> {
    const record = await store.findRun(id);
    if (isHeldBy(record, workerId)) return record;
    throw createNotHeldError();
  }

  /** Completes the spec of an order's run, which its worker prepares. Any other run is executed as it was requested. */
  async function completeSpec(id: string, sent: object, caller: Caller): Promise<RunSpec> {
    const record = await store.findRun(id);
    if (record?.order === null)
      throw new RequestError('INVALID_BODY', 'Invalid body: spec: this run is executed as it was requested.');
    // A worker in a place does not know how it was placed.
    return { ...sent, ...(caller.isRun === true ? pickPlacement(record?.spec ?? {}) : {}) } as RunSpec;
  }

  /** Returns the order of a run. After the order is settled its worker may still read it, to repeat a settlement. */
  async function findOrderName(id: string, workerId: string): Promise<NonNullable<RunRecord['order']>> {
    const record = await store.findRun(id);
    if (record?.owner?.worker_id !== workerId || record.order === null) throw createNotHeldError();
    return record.order;
  }

  /** The worker sends the end of a run last, when its files are here. */
  async function complete<T>(id: string, outcome: T): Promise<T> {
    await completeRunFiles(data, id);
    return outcome;
  }

  return async (
    id: string,
    body: Exclude<WorkerCall, { readonly call: 'adopt' }>,
    caller: Caller,
  ): Promise<unknown> => {
    const { worker_id: workerId } = body;
    const hold = { id, workerId, now: clock() };
    switch (body.call) {
      case 'start': {
        const { base_commit: baseCommit, repository_start: repositoryStart } = body;
        const spec = body.spec === undefined ? undefined : await completeSpec(id, body.spec as object, caller);
        return store.markStarted({ ...hold, ...omitUndefined({ spec, baseCommit, repositoryStart }) });
      }
      case 'release': {
        const release = { ...hold, retryAt: body.retry_at };
        if (body.is_waiting === true)
          return caller.isRun !== true && (await sessions?.find(id))?.complete === true
            ? store.releaseRun({ ...release, isWaiting: true })
            : false;
        return (await store.requeuePlaced(release)) || store.releaseRun(release);
      }
      case 'lost': {
        if (caller.isRun === true || !isOwn(caller, body.from)) throw createNotHeldError();
        const { from, host } = body;
        const worker = { worker_id: workerId, host, pid: 0, pid_started: null };
        // Its claim ends first, so that nothing is published or settled with it any more.
        const run = await store.adoptRun({ id, from, worker, leaseMs, now: hold.now });
        if (run === undefined) return false;
        await endLost({ store, lead: server.lead, data, clock, workerLostRetries }, run, { loss: 'attested' });
        return true;
      }
      case 'renew':
        return store.renewRun({ ...hold, leaseMs });
      case 'wait':
        return store.setWaiting({ ...hold, isWaiting: body.is_waiting });
      case 'end':
        return complete(id, await store.endRun({ ...hold, result: body.result as RunResult }));
      case 'settle': {
        const { issue_ref: issueRef, run_id: runId } = await findOrderName(id, workerId);
        return complete(id, await lead.settle({ issueRef, runId, ...readEnd(body.end), heldBy: workerId }));
      }
      case 'events': {
        if (body.packs.length === 0) return void (await findHeld(id, workerId));
        const packs = body.packs.map(readPack);
        const events = packs.flatMap((each) => each.events);
        const stored = packs.map(({ pack }) => pack);
        // Checked where they are written: the claim can move at any time.
        return store.append(id, events, stored, workerId).catch((error: unknown) => {
          throw getErrorCode(error) === 'ORDER_NOT_FOUND' ? createNotHeldError() : error;
        });
      }
      case 'read': {
        await findHeld(id, workerId);
        const { protocol, limit, after, to } = body;
        return store.read({ runId: id, protocol, limit, ...omitUndefined({ after, to }) });
      }
      case 'bytes':
        await findHeld(id, workerId);
        return Promise.all(body.files.map(async (file) => writeRunBytes(data, id, file)));
      case 'write_session': {
        const parts = await openSessions(id, workerId);
        if (body.part < 1 || body.part > MAX_SESSION_PARTS)
          throw new RequestError('INVALID_BODY', 'Invalid body: part: no such part.');
        return parts.write(id, body.part, Buffer.from(body.data, 'base64'));
      }
      case 'describe_session': {
        const manifest = readManifest(body.manifest);
        if (manifest === undefined) throw new RequestError('INVALID_BODY', 'Invalid body: manifest: not a manifest.');
        return (await openSessions(id, workerId)).describe(id, manifest);
      }
      case 'find_session':
        return (await openSessions(id, workerId)).find(id);
      case 'read_session': {
        const bytes = await (await openSessions(id, workerId)).read(id, body.part);
        return bytes === undefined ? undefined : Buffer.from(bytes).toString('base64');
      }
      case 'remove_session':
        return (await openSessions(id, workerId)).remove(id);
      case 'order': {
        const { issue_ref, run_id } = await findOrderName(id, workerId);
        return store.findOrder(issue_ref, run_id);
      }
      case 'repository_start':
        await findHeld(id, workerId);
        return store.findRepositoryStart(id);
      case 'run': {
        const found = await store.findRun(body.run);
        if (found?.owner !== undefined && found.owner !== null && isOwn(caller, found.owner.worker_id)) return found;
        const { issue_ref, run_id } = await findOrderName(id, workerId);
        const { order } = (await store.findOrder(issue_ref, run_id)) ?? {};
        return order?.start_run === body.run ? found : undefined;
      }
      case 'check':
        // Only orders have checks. With checks of checks, the token of a run would not end with its claim.
        if ((await findHeld(id, workerId)).order === null || !isOwn(caller, body.check_worker_id))
          throw createNotHeldError();
        return store.createRun({
          id: body.run,
          spec: body.spec as RunSpec,
          state: 'running',
          workerId: body.check_worker_id,
          leaseMs,
          now: hold.now,
        });
      case 'request_budget': {
        const record = await findHeld(id, workerId);
        const outcome = await requestBudget({ store, budgets: settings.budgets, clock, logger }, record);
        if (outcome.status !== 'granted') return outcome;
        return { status: outcome.status, limits_cost: outcome.budget?.limitsCost ?? null };
      }
      case 'spend_budget': {
        const record = await findHeld(id, workerId);
        return spendBudget({ store, budgets: settings.budgets, clock, logger }, record, body);
      }
      case 'find_result':
        await findHeld(id, workerId);
        return store.find(body.key);
      case 'cache_result': {
        const { spec } = await findHeld(id, workerId);
        // Others could get this result.
        if (spec.cache === undefined || spec.cache === false)
          throw new RequestError('INVALID_BODY', 'Invalid body: this run does not use the cache.');
        return store.cacheResult(body.key, { ...(body.entry as CachedResult), run_id: id });
      }
      case 'find_pull_request': {
        const { issue_ref } = await findOrderName(id, workerId);
        return lead.findPullRequest(issue_ref, body.name);
      }
      case 'has_commit': {
        const { issue_ref } = await findOrderName(id, workerId);
        return lead.hasCommit(issue_ref, body.commit);
      }
    }
  };
}

/** Reads packed events. Their lines are stored unchanged, so they must be what they say. */
function readPack(sent: Extract<WorkerCall, { readonly call: 'events' }>['packs'][number]): {
  readonly pack: EventPack;
  readonly events: readonly Emitted[];
} {
  const { protocol, attempt, first_seq: firstSeq, last_seq: lastSeq, lines } = sent;
  const events = unpackEvents(protocol, lines) ?? [];
  const isComplete =
    events.length === lastSeq - firstSeq + 1 &&
    events.every((emitted, index) => {
      const position = getPosition(emitted);
      return position.attempt === attempt && position.seq === firstSeq + index;
    });
  if (isComplete) return { pack: { protocol, attempt, firstSeq, lastSeq, lines }, events };
  throw new RequestError('INVALID_BODY', 'Invalid body: the events are damaged or do not have the stated numbers.');
}

function readEnd(end: FromSchema<typeof workerEndSchema>): WorkerEnd {
  return {
    exitCode: end.exit_code,
    signal: end.signal,
    ...omitUndefined({
      stderr: end.last_output,
      hasEnded: end.has_ended,
      runError: end.run_error,
      startError: end.start_error,
      unresolved: end.unresolved,
      canceled: end.canceled,
      command: end.command,
      workerVersion: end.worker_version,
      note: end.note,
      runResult: end.run_result as RunResult | undefined,
      reading: end.reading as Reading | undefined,
      evidence: end.evidence as readonly Evidence[] | undefined,
      changedLines: end.changed_lines,
    }),
  };
}

/** The files of a run that workers upload besides artifacts: recorded bytes and the result. Derived logs are derived again here. */
const RUN_FILE =
  /^(?:\.audit\/(?:[\w-]{1,40}\.\d{1,6}\.(?:log|jsonl|json))|work_(?:order\.json|result\.(?:json|txt)))$/u;

/** No part of the path is empty or the folder itself. */
const ARTIFACT = new RegExp(`^\\${ARTIFACT_FOLDER}(?:/(?!\\.?(?:/|$))[^/]+)+$`, 'u');

/** The maximum size of an uploaded file: larger than what a run may record by default. */
const MAX_FILE_BYTES = 4 * 1024 * 1024 * 1024;

type RunBytes = Extract<WorkerCall, { readonly call: 'bytes' }>['files'][number];

/**
 * Writes bytes to a file of a run folder, at its end; an offset of 0 replaces the file. Returns the size of the file: if
 * it is not what the worker expects, nothing was written, and the worker continues from there.
 */
async function writeRunBytes(data: string, id: string, { path, offset, data: sent }: RunBytes): Promise<number> {
  const isArtifact = ARTIFACT.test(path) && isArtifactPath(path);
  if ((!isArtifact && !RUN_FILE.test(path)) || offset > MAX_FILE_BYTES)
    throw new RequestError('INVALID_BODY', 'Invalid body: path: not a file that workers upload.');
  const file = join(getRunFolderPath(data, id), path);
  if (offset === 0) await markIncoming(data, id);
  const handle = await openUpload(file, data, offset === 0 ? constants.O_TRUNC : 0).catch((error: unknown) => {
    if (!UNUSABLE_NAME.has(getErrorCode(error) ?? '')) throw error;
    throw new RequestError('INVALID_BODY', 'Invalid body: path: not the name of a file.', { cause: error });
  });
  try {
    const { size } = await handle.stat();
    if (size !== offset) return size;
    const bytes = Buffer.from(sent, 'base64');
    await handle.write(bytes, 0, bytes.length, offset);
    return offset + bytes.length;
  } finally {
    await handle.close();
  }
}

/** The errors of names that are too long, and of files that are folders, or are below another file. */
const UNUSABLE_NAME: ReadonlySet<string> = new Set([
  'EISDIR',
  'ENOTDIR',
  'ENAMETOOLONG',
  'EEXIST',
  'ELOOP',
  'UNSAFE_FILE',
]);

async function openUpload(file: string, data: string, more: number): Promise<FileHandle> {
  await makeFolderBelow(dirname(file), data);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | more;
  return withFolder(
    dirname(file),
    { trustedRoot: data },
    {
      work: async (folder) => open(join(folder, basename(file)), flags, 0o600),
      undo: async (opened) => opened.close(),
    },
  );
}

/** Marks a run folder as incomplete: another server could have the rest, if the worker was sent there meanwhile. */
async function markIncoming(data: string, id: string): Promise<void> {
  const path = getIncomingPath(data, id);
  await makeFolder(dirname(path));
  await writeFile(path, '', { flag: 'a', mode: 0o600 });
}

/** Marks a run folder as complete: the worker sends the end of a run last. */
async function completeRunFiles(data: string, id: string): Promise<void> {
  await rm(getIncomingPath(data, id), { force: true });
}
