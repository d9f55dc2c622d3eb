import { randomUUID } from 'node:crypto';
import { findWrapper } from '../../orders/index.js';
import { DEFAULT_LEASE_MS } from '../../orders/dispatch/index.js';
import type { ClaimedRun, RunClaim } from '../../store/ports/index.js';
import { PLACEMENT_FIELDS, type RunRecord, type RunSpec, type WorkerIdentity } from '../../store/records/index.js';
import { omitUndefined, getErrorMessage, type Logger } from '../../base/index.js';
import { WORKER_PROTOCOL, type BodyOf, type Endpoint, type ENDPOINTS } from '../api/index.js';
import type { Context } from 'hono';
import { RequestError } from '../http/problem.js';
import { readOutgoingMessage } from '../http/read-request.js';
import type { Handler, Handlers } from '../http/request-checks.js';
import type { Caller } from '../security/tokens.js';
import type { ServerContext } from '../server-context.js';
import { sendStream } from './run-events.js';
import { createWorkerCalls, type WorkerCall } from './worker-calls.js';
import { createNotHeldError, getPrefix, isHeldBy, isOwn, requireOwn } from './worker-fence.js';
import type { QueueNotifications } from '../../store/index.js';

/** Removes what says where a run is executed, except in a container: a worker in a pod has no engine for one. */
function omitPlacement<T extends Pick<RunSpec, 'placement'>>(fields: T): T {
  if (fields.placement === 'container') return fields;
  const kept = Object.entries(fields).filter(([key]) => !PLACEMENT_FIELDS.some((field) => field === key));
  return Object.fromEntries(kept) as T;
}

type WorkerHandlers = Pick<Handlers, 'reportWorker' | 'claimRun' | 'placeRun' | 'watchWork' | 'callAsWorker'>;

type ClaimBody = Parameters<WorkerHandlers['claimRun']>[0]['body'];

/** Which runs a worker takes. */
type Wanted = Pick<RunClaim, 'kinds' | 'workerTypes' | 'labels'>;

function readWanted({ kinds, worker_types: workerTypes, labels }: BodyOf<typeof ENDPOINTS.placeRun>): Wanted {
  return omitUndefined({ kinds, workerTypes, labels });
}

/** The fields of every claim for a worker. */
function readWorker({ worker_id, host, pid, pid_started }: WorkerIdentity): WorkerIdentity {
  return { worker_id, host, pid, pid_started };
}

/** Creates the handlers for workers without a database. Each call is checked against the claim that it names. */
export function createWorkerHandlers(server: ServerContext): WorkerHandlers {
  const { store, lead, guard, work, settings, clock, logger, shutdownSignal, checkAcceptsWork } = server;
  const { leaseMs = DEFAULT_LEASE_MS, concurrencyByType = {}, approvals = [], secretPatterns = [] } = work;
  const calls = createWorkerCalls(server, leaseMs);
  const queue = createClaimQueue<ClaimBody>({
    store,
    logger,
    async claimNext(claim, { watcher, isLast }) {
      checkAcceptsWork();
      return store.claimRun({
        worker: readWorker(claim),
        leaseMs,
        now: clock(),
        concurrency: concurrencyByType,
        ...readWanted(claim),
        ...omitUndefined({ watcher }),
        isLast: claim.is_last === true && isLast,
      });
    },
    release: async ({ record: { id, owner } }) =>
      store.releaseRun({ id, workerId: owner?.worker_id ?? '', now: clock(), retryAt: clock() }),
  });

  /** Adds what the worker needs to execute a run: the order's own wrapper, checks and repository, no others. */
  function describeClaim({ record, order, unresolved }: ClaimedRun) {
    if (order === null) return { record, order, unresolved, wrapper: null, checks: {}, repo: null };
    const { worker, repo, checks: requested } = order.order;
    // A wrapper or check that is no longer configured is reported by the worker, as the result of its order.
    const wrapper = Object.hasOwn(lead.wrappers, worker) ? findWrapper(worker, lead.wrappers) : null;
    const names = new Set(requested ?? wrapper?.checks ?? []);
    return {
      record,
      order,
      unresolved,
      wrapper,
      checks: Object.fromEntries(Object.entries(lead.checks).filter(([name]) => names.has(name))),
      repo: lead.repos.find(({ url }) => url === repo) ?? null,
    };
  }

  /** Lets one process take over the run that was claimed for its token. Its place was chosen: there it runs locally. */
  async function takePlaced(id: string, caller: Caller, worker: WorkerIdentity) {
    const taken = await store.takePlaced({ id, from: caller.name, worker, leaseMs, now: clock() });
    if (taken === undefined) throw createNotHeldError();
    const { record, wrapper, ...rest } = describeClaim(taken);
    return {
      ...rest,
      record: { ...record, spec: omitPlacement(record.spec) },
      wrapper: wrapper === null ? null : omitPlacement(wrapper),
    };
  }

  async function adopt(id: string, body: Extract<WorkerCall, { readonly call: 'adopt' }>, caller: Caller) {
    requireOwn(caller, body.from);
    const record = await store.adoptRun({ id, from: body.from, worker: readWorker(body), leaseMs, now: clock() });
    if (record === undefined) return null;
    const { order: name } = record;
    const order = name === null ? undefined : await store.findOrder(name.issue_ref, name.run_id);
    return describeClaim({ record, order: order ?? null, unresolved: [] });
  }

  return {
    async reportWorker({ body: { state, ...report }, caller }) {
      const id = `${getPrefix(caller)}/${report.id}`;
      const now = clock();
      const isStopping = state === 'stopping';
      let expired: readonly RunRecord[] = [];
      if (state === 'stopped') await store.removeWorker(id);
      // A process that executes one run is no worker of the fleet.
      else if (state !== 'starting' && caller.isRun !== true) {
        const alive = { ...report, id, isStopping, now, aliveUntil: now + 2 * leaseMs };
        const { hasExpiredRuns } = await store.reportWorker(alive);
        const listed = hasExpiredRuns ? await store.listExpiredRuns(now, { host: report.host }) : [];
        expired = listed.filter(({ owner }) => owner !== null && isOwn(caller, owner.worker_id));
      }
      const { agents, budgets } = settings;
      return {
        prefix: getPrefix(caller),
        now: clock(),
        lease_ms: leaseMs,
        agents,
        approvals,
        secret_patterns: secretPatterns,
        has_budgets: Object.keys(budgets).length > 0,
        keeps_sessions: server.archive !== undefined,
        expired,
      };
    },
    async claimRun({ body, caller }) {
      requireOwn(caller, body.worker_id);
      const { run, watcher } = body;
      if (caller.isRun === true) {
        checkAcceptsWork();
        // The claim moves to a name that only this process uses: another one with the same token is refused.
        if (body.worker_id === caller.name) throw createNotHeldError();
        const claimed = await takePlaced(run ?? '', caller, readWorker(body));
        return { now: clock(), claimed, is_waiting: false };
      }
      const name = watcher === undefined ? undefined : `${getPrefix(caller)}/${watcher}`;
      const { claimed, isWaiting } = await queue.claim(name, body);
      return {
        now: clock(),
        claimed: claimed === undefined ? null : describeClaim(claimed),
        is_waiting: isWaiting,
      };
    },
    async placeRun({ body, caller }) {
      checkAcceptsWork();
      if (caller.isRun === true) throw createNotHeldError();
      const { token, workerId } = guard.createRunToken(caller.name);
      const claimed = await store.claimRun({
        worker: { worker_id: workerId, host: body.host ?? 'placed', pid: 0, pid_started: null },
        leaseMs,
        now: clock(),
        concurrency: concurrencyByType,
        ...readWanted(body),
      });
      return { placed: claimed === undefined ? null : { run: claimed.record.id, token } };
    },
    async watchWork({ body, caller, context, requestId }) {
      const { id } = body;
      for (const { worker_id } of body.runs) requireOwn(caller, worker_id);
      const records = await Promise.all(body.runs.map(async (run) => store.findRun(run.id)));
      const held = body.runs.filter(({ worker_id }, index) => isHeldBy(records[index], worker_id));
      return sendStream({ context, requestId, shutdownSignal }, (connection) => {
        const write = (line: object) => connection.write(Buffer.from(`data: ${JSON.stringify(line)}\n\n`));
        const stops = held.map((run) => store.watchRequests(run.id, () => write({ run: run.id })));
        if (id !== undefined && caller.isRun !== true) {
          const assign = (claimed: ClaimedRun): boolean => {
            if (connection.isClosed) return false;
            write({ now: clock(), claimed: describeClaim(claimed) });
            return true;
          };
          stops.push(queue.connect(`${getPrefix(caller)}/${id}`, readWanted(body), assign));
        }
        connection.onClose(() => {
          for (const stop of stops) stop();
        });
        write({ watching: true });
      });
    },
    async callAsWorker({ params, body, caller }) {
      requireOwn(caller, body.worker_id);
      if (body.call === 'adopt') return { value: await adopt(params.id, body, caller) };
      return { value: (await calls(params.id, body, caller)) ?? null };
    },
  };
}

/** Refuses workers whose version of the protocol is too far from the server's. */
export function withProtocol(handler: Handler<Endpoint>): Handler<Endpoint> {
  return async (request) => {
    const sent = request.context.req.header('sluice-protocol') ?? '';
    if (isSupportedProtocol(sent)) {
      keepConnection(request.context);
      return handler(request);
    }
    throw new RequestError(
      'PROTOCOL_UNSUPPORTED',
      `The header "sluice-protocol" names version "${sent.slice(0, 20)}" of the worker protocol, this server speaks ${WORKER_PROTOCOL}. Use versions of Sluice that are at most one minor version apart.`,
    );
  };
}

/** How long the connection of a worker stays open after a response: longer than the time between its reports. */
const KEEP_MS = 60_000;

/** Keeps the connection open, so that the next run starts without the handshake of a new one. */
function keepConnection(context: Context): void {
  const outgoing = readOutgoingMessage(context);
  // Node.js sets the time limit of all connections when a response is finished, before it calls this.
  outgoing?.once('finish', () => outgoing.socket?.setTimeout(KEEP_MS));
}

/** Whether a version of the protocol works with this one: the same major version, at most one minor version apart. */
export function isSupportedProtocol(sent: string, own: string = WORKER_PROTOCOL): boolean {
  const [major, minor] = sent.split('.').map(Number);
  const [ownMajor, ownMinor = 0] = own.split('.').map(Number);
  return major === ownMajor && Math.abs((minor ?? Number.NaN) - ownMinor) <= 1;
}

interface ClaimQueueOptions<Claim> {
  readonly store: QueueNotifications;
  /** `watcher` is the name of the workers that take the same runs; `isLast` means that none of them waits any more. */
  readonly claimNext: (
    claim: Claim,
    watch: { readonly watcher?: string | undefined; readonly isLast: boolean },
  ) => Promise<ClaimedRun | undefined>;
  /** Puts a claimed run back into the queue, because its worker is gone. */
  readonly release: (claimed: ClaimedRun) => Promise<unknown>;
  readonly logger: Logger;
}

interface Group<Claim> {
  readonly name: string;
  /** Claims that found nothing, the oldest first. */
  readonly waiting: Map<string, Claim>;
  members: number;
  /** Counts wake-ups, so a claim notices one that came while it looked for a run. */
  wakes: number;
  isAssigning: boolean;
  readonly stop: () => void;
}

/**
 * Lets workers wait for runs. The server claims for a waiting worker as soon as it is woken, which saves a round trip, and
 * a new run costs one claim instead of one for each connected worker.
 */
export function createClaimQueue<Claim>({ store, claimNext, release, logger }: ClaimQueueOptions<Claim>) {
  const groups = new Map<string, Group<Claim>>();
  const streams = new Map<
    string,
    { readonly group: Group<Claim>; readonly assign: (claimed: ClaimedRun) => boolean }
  >();

  function openGroup(wanted: Wanted): Group<Claim> {
    const name = randomUUID();
    const stop = store.watchQueue((work) => void (work !== 'messages' && wake(group)), {
      worker: name,
      ...wanted,
    });
    const group: Group<Claim> = { name, waiting: new Map(), members: 0, wakes: 0, isAssigning: false, stop };
    return group;
  }

  function wake(group: Group<Claim>): void {
    group.wakes += 1;
    if (!group.isAssigning) void assignRuns(group);
  }

  async function take(group: Group<Claim> | undefined, claim: Claim): Promise<ClaimedRun | undefined> {
    if (group === undefined) return claimNext(claim, { isLast: true });
    const isLast = group.waiting.size === 0;
    const claimed = await claimNext(claim, { watcher: group.name, isLast });
    // The store wakes a full group no more, but another claim may have found nothing meanwhile, and waits.
    if (isLast && claimed !== undefined) wake(group);
    return claimed;
  }

  /** Claims runs for waiting workers until there are none of either. */
  async function assignRuns(group: Group<Claim>): Promise<void> {
    group.isAssigning = true;
    for (let seen = -1; seen !== group.wakes && group.waiting.size > 0;) {
      seen = group.wakes;
      for (const [worker, claim] of group.waiting) {
        group.waiting.delete(worker);
        if (await assignOne(group, worker, claim)) continue;
        // Unless it has disconnected or claims by itself meanwhile.
        if (streams.get(worker)?.group === group && !group.waiting.has(worker)) group.waiting.set(worker, claim);
        break;
      }
    }
    group.isAssigning = false;
  }

  /** Returns false if there is no run. */
  async function assignOne(group: Group<Claim>, worker: string, claim: Claim): Promise<boolean> {
    try {
      const claimed = await take(group, claim);
      if (claimed === undefined) return false;
      if (streams.get(worker)?.assign(claimed) !== true) await release(claimed);
      return true;
    } catch (error) {
      // The store is unavailable; workers also look for runs themselves from time to time.
      logger.warn('cannot claim a run for a waiting worker', { error: getErrorMessage(error) });
      return false;
    }
  }

  return {
    /** Adds a worker's stream, through which it gets a run if its last claim found none. Returns the function that removes it. */
    connect(worker: string, wanted: Wanted, assign: (claimed: ClaimedRun) => boolean) {
      const key = JSON.stringify(wanted);
      const group = groups.get(key) ?? openGroup(wanted);
      groups.set(key, group);
      group.members += 1;
      const stream = { group, assign };
      streams.set(worker, stream);
      return () => {
        if (streams.get(worker) === stream) {
          streams.delete(worker);
          group.waiting.delete(worker);
        }
        group.members -= 1;
        if (group.members > 0) return;
        groups.delete(key);
        group.stop();
      };
    },
    /** Claims a run. Without one, the claim waits if the worker has a stream here. */
    async claim(worker: string | undefined, claim: Claim): Promise<{ claimed?: ClaimedRun; isWaiting: boolean }> {
      const { group } = streams.get(worker ?? '') ?? {};
      if (worker !== undefined) group?.waiting.delete(worker);
      const wakes = group?.wakes;
      const claimed = await take(group, claim);
      if (claimed !== undefined) return { claimed, isWaiting: false };
      if (worker === undefined || group === undefined || streams.get(worker)?.group !== group)
        return { isWaiting: false };
      group.waiting.set(worker, claim);
      if (group.wakes !== wakes && !group.isAssigning) void assignRuns(group);
      return { isWaiting: true };
    },
  };
}
