import { randomUUID } from 'node:crypto';
import { getErrorCode, getErrorMessage, omitUndefined, silentLogger } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import { packEvents, type Emitted } from '../../events/index.js';
import type { BudgetOutcome, WorkerLead, WorkerStore } from '../../orders/dispatch/index.js';
import { readLastOutput, readResult } from '../../orders/index.js';
import type { Check, GitFilters, PullRequestFinding, Repo, Settlement, Wrapper } from '../../orders/index.js';
import { compileSecrets, listSensitiveValues, type AgentSettings } from '../../runs/index.js';
import { getRunFolderPath, removeRunFolder } from '../../runs/run-folder/index.js';
import type { CachedResult, ClaimedRun } from '../../store/ports/index.js';
import type { ApprovalRule, OrderRecord, RunRecord } from '../../store/records/index.js';
import type { ENDPOINTS, ResponseOf } from '../api/index.js';
import type { Connection, WorkerRequest } from './connection.js';
import { createRemoteSessions, createRunCopies } from './copy-bytes.js';
import { createNotHeldError, formatEnd, splitPacks } from './connection.js';
import { watchServer } from './watch-server.js';

export type RemotePorts = Awaited<ReturnType<typeof openRemotePorts>>;

export interface RemoteOptions {
  readonly connection: Connection;
  readonly data: string;
  readonly filters: GitFilters;
  /** The token, which is masked in everything that agents report. */
  readonly token: string;
  readonly logger?: Logger;
}

/** A claimed run, with what the server sends for it. */
interface Claimed extends ClaimedRun {
  readonly wrapper: Wrapper | null;
  readonly checks: Readonly<Record<string, Check>>;
  readonly repo: Repo | null;
}

/** A run that this process holds. */
interface Held extends Pick<Claimed, 'order' | 'wrapper' | 'checks' | 'repo'> {
  readonly workerId: string;
  /** Set for a run without an order. */
  readonly spec?: RunRecord['spec'] | undefined;
  readonly checkedRun?: string;
  /** Whether the server has the end of the run and all its bytes. */
  hasEnded?: boolean;
}

type ClaimResponse = ResponseOf<typeof ENDPOINTS.claimRun> & { readonly claimed: Claimed | null };

interface Report extends ResponseOf<typeof ENDPOINTS.reportWorker> {
  readonly agents: Readonly<Record<string, AgentSettings>>;
  readonly approvals: readonly ApprovalRule[];
  readonly expired: readonly RunRecord[];
}

/** A run that was assigned to a worker which has no room any more is put back after this time. */
const ASSIGNED_MS = 2000;

/** Introduces a worker to a server, and returns ports that use it. Throws if the server refuses the token. */
export async function openRemotePorts(
  options: RemoteOptions,
  self: { readonly host: string; readonly version: string; readonly engines: readonly string[] },
) {
  const { connection, data, filters, token, logger = silentLogger } = options;
  let offsetMs: number | undefined;
  /** Follows the server's clock with the monotonic clock, so that setting the clock of this host has no effect. */
  const setClock = (now: number, sentAt: number): void => {
    // The server read its clock between request and response.
    const [least, most] = [now - performance.now(), now - sentAt];
    offsetMs = Math.min(most, Math.max(least, offsetMs ?? (least + most) / 2));
  };
  const report = async (body: object): Promise<Report> => {
    const sentAt = performance.now();
    const response = (await connection.send('/v1/worker/report', body)) as Report;
    setClock(response.now, sentAt);
    return response;
  };
  const first = await report({ ...self, id: 'new', capacity: 0, busy: 0, state: 'starting' });
  const { prefix } = first;
  const secrets = compileSecrets({
    values: [...listSensitiveValues(process.env), token],
    patterns: first.secret_patterns,
  });
  const held = new Map<string, Held>();
  let expired: readonly RunRecord[] = [];
  /** Runs that the server claimed for this worker while it waited, and that it has not taken yet. */
  const assigned: ClaimedRun[] = [];
  const watch = watchServer(connection, logger, (claimed, isWanted) => {
    const run = hold(claimed as Claimed);
    assigned.push(run);
    setTimeout(() => void returnAssigned(run), isWanted ? ASSIGNED_MS : 0).unref();
  });
  const getWorkerId = (local: string): string => `${prefix}/${local}`;

  async function call<T>(id: string, request: WorkerRequest, workerId = held.get(id)?.workerId): Promise<T> {
    if (workerId === undefined) throw createNotHeldError(id);
    const body = { ...request, worker_id: workerId };
    const { value } = (await connection.send(`/v1/worker/runs/${encodeURIComponent(id)}`, body)) as { value: T };
    return value;
  }

  /** Replaces the worker id of a run's owner by the id that this process uses. */
  function toLocal(run: RunRecord): RunRecord {
    if (run.owner === null) return run;
    return { ...run, owner: { ...run.owner, worker_id: run.owner.worker_id.slice(prefix.length + 1) } };
  }

  const copies = createRunCopies({ data, call, logger });

  async function claim(local: string, body: object): Promise<ClaimedRun | undefined> {
    const sentAt = performance.now();
    const request = { ...body, worker_id: getWorkerId(local) };
    const response = (await connection.send('/v1/worker/claim', request)) as ClaimResponse;
    setClock(response.now, sentAt);
    if (response.claimed !== null) return hold(response.claimed);
    if (!response.is_waiting) watch.wakeLater();
    return undefined;
  }

  function hold({ record, order, unresolved, wrapper, checks, repo }: Claimed): ClaimedRun {
    const spec = order === null ? record.spec : undefined;
    held.set(record.id, { workerId: record.owner?.worker_id ?? prefix, order, wrapper, checks, repo, spec });
    return { record: toLocal(record), order, unresolved };
  }

  /** Puts an assigned run back into the queue if it was not taken. If that fails, its lease expires. */
  async function returnAssigned(run: ClaimedRun): Promise<void> {
    const index = assigned.indexOf(run);
    if (index === -1) return;
    assigned.splice(index, 1);
    const { id } = run.record;
    const entry = held.get(id);
    await call(id, { call: 'release', retry_at: store.now() }).catch(() => undefined);
    // Unless it was claimed again meanwhile.
    if (held.get(id) === entry) held.delete(id);
  }

  function markEnded(id: string): void {
    const entry = held.get(id);
    if (entry !== undefined) entry.hasEnded = true;
  }

  /** Forgets a run that is no longer executed, and the runs that checked it, whose records and output are read until then. */
  function forget(id: string): void {
    if (held.get(id)?.checkedRun !== undefined) return;
    for (const [each, { checkedRun, hasEnded }] of held) {
      if (each !== id && checkedRun !== id) continue;
      held.delete(each);
      if (hasEnded !== true) continue;
      removeRunFolder(data, each).catch((error: unknown) =>
        logger.warn('cannot remove a run folder', { run_id: each, error: getErrorMessage(error) }),
      );
    }
  }

  function findHeldRun(issueRef: string, runId?: string): string {
    for (const [id, { order }] of held) {
      const isRun = runId === undefined || order?.order.run_id === runId;
      if (order?.order.issue_ref === issueRef && isRun) return id;
    }
    throw createNotHeldError(issueRef);
  }

  const store: WorkerStore = {
    now: () => Math.round(performance.now() + (offsetMs ?? 0)),
    async reportWorker({ isStopping, now: _, aliveUntil: __, ...body }) {
      const answer = await report({ ...body, state: isStopping ? 'stopping' : 'alive' });
      expired = answer.expired.map(toLocal);
      return { hasExpiredRuns: expired.length > 0 };
    },
    async removeWorker(id) {
      await report({ ...self, id, capacity: 0, busy: 0, state: 'stopped' });
    },
    claimRun: async ({ worker: { worker_id, host, pid, pid_started }, kinds, workerTypes, labels, watcher, isLast }) =>
      assigned.shift() ??
      claim(worker_id, {
        host,
        pid,
        pid_started,
        ...omitUndefined({ kinds, worker_types: workerTypes, labels, watcher, is_last: isLast }),
      }),
    async createRun({ id, spec, workerId = '', checks = '' }) {
      const checkWorkerId = getWorkerId(workerId);
      const request = { call: 'check', run: id, check_worker_id: checkWorkerId, spec } as WorkerRequest;
      const created = await call<{ readonly id: string; readonly repeated: boolean }>(checks, request);
      held.set(id, { workerId: checkWorkerId, order: null, wrapper: null, checks: {}, repo: null, checkedRun: checks });
      return created;
    },
    async markStarted({ id, spec, baseCommit, repositoryStart }) {
      const fields = omitUndefined({ spec, base_commit: baseCommit, repository_start: repositoryStart });
      const outcome = await call<'started' | 'canceled' | 'lost'>(id, { call: 'start', ...fields });
      if (outcome === 'started') copies.add(id);
      return outcome;
    },
    async releaseRun({ id, retryAt, isWaiting }) {
      const more = isWaiting === true ? { is_waiting: true } : {};
      return call<boolean>(id, { call: 'release', retry_at: Math.round(retryAt), ...more });
    },
    renewRun: async ({ id }) => call(id, { call: 'renew' }),
    setWaiting: async ({ id, isWaiting = true }) => call(id, { call: 'wait', is_waiting: isWaiting }),
    async adoptRun({ id, from, worker: { worker_id: local, host, pid, pid_started } }) {
      const workerId = getWorkerId(local);
      const request = { call: 'adopt', from: getWorkerId(from), host, pid, pid_started } as const;
      const adopted = await call<Claimed | null>(id, request, workerId);
      if (adopted === null) return undefined;
      hold(adopted);
      copies.add(id);
      return adopted.record;
    },
    async endRun({ id, result }) {
      const { spec } = held.get(id) ?? {};
      await copies.finish(id, spec === undefined ? undefined : { spec, result });
      const hasEnded = await call<boolean>(id, { call: 'end', result });
      markEnded(id);
      return hasEnded;
    },
    async findRun(id) {
      const own = held.has(id) ? id : [...held].find(([, { order }]) => order?.order.start_run === id)?.[0];
      if (own === undefined) return undefined;
      const found = await call<RunRecord | null>(own, { call: 'run', run: id });
      return found ?? undefined;
    },
    findOrder: async (issueRef, runId) =>
      (await call<OrderRecord | null>(findHeldRun(issueRef, runId), { call: 'order' })) ?? undefined,
    async findRepositoryStart(id) {
      const owner = expired.find((run) => run.id === id)?.owner;
      const workerId = held.get(id)?.workerId ?? getWorkerId(owner?.worker_id ?? '');
      return (await call<string | null>(id, { call: 'repository_start' }, workerId)) ?? undefined;
    },
    watchRequests(id, wake) {
      const entry = held.get(id);
      const stop = watch.watchRun(id, entry?.workerId ?? '', wake);
      return () => {
        stop();
        // Unless this process has claimed it again meanwhile.
        if (held.get(id) === entry) forget(id);
      };
    },
    watchQueue(wake, watcher) {
      const stop = watch.watchQueue(wake, {
        id: watcher?.worker ?? 'worker',
        ...omitUndefined({ kinds: watcher?.kinds, worker_types: watcher?.workerTypes, labels: watcher?.labels }),
      });
      return () => {
        stop();
        for (const run of assigned.slice()) void returnAssigned(run);
      };
    },
    async append(runId, events, packs = packEvents(events)) {
      for (const group of splitPacks(packs)) {
        const sent = group.map(({ protocol, attempt, firstSeq, lastSeq, lines }) => ({
          protocol,
          attempt,
          first_seq: firstSeq,
          last_seq: lastSeq,
          lines,
        }));
        await call(runId, { call: 'events', packs: sent });
      }
    },
    read: async ({ runId, protocol, limit, after, to }) => {
      const range = omitUndefined({ after: after?.toString(), to: to?.toString() });
      return call<readonly Emitted[]>(runId, { call: 'read', protocol, limit, ...range });
    },
    find: async (key) => {
      const [id] = held.keys();
      return id === undefined
        ? undefined
        : ((await call<CachedResult | null>(id, { call: 'find_result', key })) ?? undefined);
    },
    cacheResult: async (key, entry) => call(entry.run_id, { call: 'cache_result', key, entry }),
  };

  const lead: WorkerLead = {
    get wrappers() {
      return Object.fromEntries(
        [...held.values()].flatMap(({ order, wrapper }) =>
          order === null || wrapper === null ? [] : [[order.order.worker, wrapper]],
        ),
      );
    },
    get checks() {
      return Object.assign({}, ...[...held.values()].map(({ checks }) => checks)) as Held['checks'];
    },
    get repos() {
      return [...held.values()].flatMap(({ repo }) => repo ?? []);
    },
    filters,
    maskText: (text) => secrets.maskText(text),
    read: async (end) => readResult({ store, data, secrets, getRunFolder: (run) => getRunFolderPath(data, run) }, end),
    findPullRequest: async (issueRef, name) =>
      call<PullRequestFinding>(findHeldRun(issueRef), { call: 'find_pull_request', name }),
    hasCommit: async (issueRef, commit) => call<boolean>(findHeldRun(issueRef), { call: 'has_commit', commit }),
    async settle({ issueRef, runId, ...end }) {
      const id = findHeldRun(issueRef, runId);
      await copies.finish(id);
      const sent = formatEnd(end, readLastOutput({ secrets }, end));
      const settlement = await call<Settlement>(id, { call: 'settle', end: sent });
      markEnded(id);
      return settlement;
    },
  };

  return {
    store,
    lead,
    settings: {
      leaseMs: first.lease_ms,
      agents: first.agents,
      approvals: first.approvals,
      secretPatterns: first.secret_patterns,
    },
    async requestBudget({ id }: Pick<RunRecord, 'id'>): Promise<BudgetOutcome> {
      if (!first.has_budgets) return { status: 'granted' };
      const outcome = await call<BudgetOutcome & { readonly limits_cost?: boolean | null }>(id, {
        call: 'request_budget',
      });
      if (outcome.status !== 'granted') return outcome;
      const { limits_cost: limitsCost } = outcome;
      if (limitsCost === undefined || limitsCost === null) return { status: 'granted' };
      const spend = async (used: { readonly tokens: number; readonly cost: number }) =>
        (await call<string | null>(id, { call: 'spend_budget', ...used })) ?? undefined;
      return { status: 'granted', budget: { limitsCost, spend } };
    },
    /** Undefined if the server has no archive. */
    sessions: first.keeps_sessions ? createRemoteSessions(call) : undefined,
    /** Returns the runs of this host whose lease has expired, as last reported, with the worker ids of this process. */
    listExpired: () => expired,
    /** Reports that the worker and the container of an expired run of this host are gone. */
    reportLost: async ({ id, owner }: RunRecord) =>
      call<boolean>(
        id,
        { call: 'lost', from: getWorkerId(owner?.worker_id ?? ''), host: self.host },
        getWorkerId(randomUUID()),
      ),
    findOwnRun: async (id: string): Promise<RunRecord | undefined> => {
      try {
        const found = await call<RunRecord | null>(id, { call: 'run', run: id }, prefix);
        return found === null ? undefined : toLocal(found);
      } catch (error) {
        // Another token holds it now, or it was deleted.
        if (getErrorCode(error) === 'RUN_NOT_FOUND') return undefined;
        throw error;
      }
    },
    /** Claims the run that the token was created for, unless another process with this token has. */
    async claimPlaced(runId: string): Promise<ClaimedRun> {
      const claimed = await claim(randomUUID(), { run: runId, host: self.host, pid: process.pid, pid_started: null });
      if (claimed === undefined) throw createNotHeldError(runId);
      return claimed;
    },
    close() {
      copies.close();
      watch.close();
      connection.close();
    },
  };
}
