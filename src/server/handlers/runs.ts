import { omitUndefined, SluiceError } from '../../base/index.js';
import {
  type RunResult,
  type RunSpec,
  type RunState,
  encodeReply,
  type PermissionReply,
} from '../../store/records/index.js';
import { checkRunSpec, RunSpecError } from '../../runs/index.js';
import { describeProblem, RequestError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers, ListFurtherIssues } from '../http/request-checks.js';
import type { BodyOf, ENDPOINTS } from '../api/index.js';
import { isJsonObject } from '../../json/schema/index.js';
import type { ServerContext } from '../server-context.js';
import { listRefusals, resolveAllowedFolder } from '../security/allowed-requests.js';
import { createRunNotFoundError, createTitles, findRun, summarizeRun, toRunView } from './run-view.js';
import { readPage, readTime } from './query.js';
import { isRasp, type RaspData, type RaspEvent } from '../../events/index.js';
import { createWaker } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';

export function createRunHandlers(server: ServerContext) {
  const { store, clock, newId, logger, settings, shutdownSignal } = server;
  const getTitle = createTitles(store);
  return {
    async startRun({ body, caller, requestId, context }) {
      server.checkAcceptsWork();
      const { request_id, ...requested } = body;
      const traceparent = readTraceparent(context) ?? requested.traceparent;
      const spec: RunSpec = await checkRunRequest({ ...requested, ...omitUndefined({ traceparent }) }, server);
      const idFields = omitUndefined({ requestId: request_id });
      const newRun = newId();
      // The request is recorded before the run can be claimed, so the run counts against the caller's budget.
      await store.recordRequest({ run: newRun, caller: caller.name, issueRef: null, now: clock() });
      const { id, repeated } = await store.createRun({ id: newRun, spec, state: 'queued', now: clock(), ...idFields });
      const { engine } = spec;
      logger.info('run queued', { run_id: id, engine, repeated, caller: caller.name, request_id: requestId });
      return { id };
    },
    async listRuns({ query }) {
      const { engine, search } = query;
      const state = query['state'] as RunState | undefined;
      const outcome = query['outcome'] as RunResult['status'] | undefined;
      const repairLevel = query['repair_level'] as RunResult['repair_level'] | undefined;
      const [since, until] = [readTime(query, 'since'), readTime(query, 'until')];
      const [endedSince, endedUntil] = [readTime(query, 'ended_since'), readTime(query, 'ended_until')];
      const { model, engine_version: engineVersion } = query;
      const times = { since, until, endedSince, endedUntil };
      const filter = omitUndefined({ state, engine, search, outcome, repairLevel, ...times, model, engineVersion });
      const { items, next_cursor } = await store.listRuns({ ...readPage(query), ...filter });
      const total = query['total'] === undefined ? undefined : await store.countRuns(filter);
      const titles = await Promise.all(items.map(getTitle));
      return {
        items: items.map((record, index) => summarizeRun(record, titles[index] ?? '')),
        next_cursor,
        ...omitUndefined({ total }),
      };
    },
    async getRun({ params }) {
      const record = await findRun(store, params.id);
      return { ...toRunView(record), title: await getTitle(record) };
    },
    async replyToRun({ params, body, caller, requestId }) {
      const options = { store, shutdownSignal, timeoutMs: settings.limits.requestMs };
      const isText = 'text' in body;
      // Which tools an agent may use is a decision; the endpoint itself needs only the scope of a text reply.
      if (!isText) server.guard.checkScope(caller, 'decide');
      await findRun(store, params.id);
      const status = isText
        ? await replyToRun(options, params.id, body.text)
        : await answerPermission(options, params.id, { ...body, who: caller.name });
      if (!isText && status === 'posted') {
        const { interaction_id, option_id } = body;
        logger.info('permission answered', {
          run_id: params.id,
          interaction_id,
          option_id,
          caller: caller.name,
          request_id: requestId,
        });
      }
      switch (status) {
        case 'posted':
          return { status };
        case 'not_found':
          throw createRunNotFoundError();
        case 'not_waiting':
          throw new RequestError(
            'RUN_NOT_WAITING',
            'The run is not waiting for this reply. Wait for the event "user.input.required" or "permission.required".',
          );
      }
    },
    async cancelRun({ params }) {
      const record = await store.requestCancel(params.id, clock());
      if (record === undefined) throw createRunNotFoundError();
      return toRunView(record);
    },
  } satisfies Partial<Handlers>;
}

type RequestedRun = Omit<BodyOf<(typeof ENDPOINTS)['startRun']>, 'request_id'>;

function moveSchema({ schema, ...rest }: RequestedRun): Omit<RequestedRun, 'schema'> {
  if (schema === undefined) return rest;
  if (rest.contract?.schema !== undefined) {
    const message = 'is the same as contract.schema; send one of them';
    throw new RequestError('INVALID_BODY', `Invalid body: schema: ${message}.`, {
      issues: [{ path: 'schema', message }],
    });
  }
  return { ...rest, contract: { ...rest.contract, schema } };
}

/**
 * Checks that a requested run is valid, and uses an allowed folder, an allowed executable, and no more permissions than
 * the configuration grants; everything that is wrong is reported at once. The folder is replaced by its real path, so
 * changing a link later has no effect. Without a folder, the only configured root is used.
 */
async function checkRunRequest(
  body: RequestedRun,
  { settings, data }: Pick<ServerContext, 'settings' | 'data'>,
): Promise<RunSpec> {
  const { roots, agents } = settings;
  const [root] = roots.length === 1 ? roots : [];
  const requested = { ...omitUndefined({ workdir: root }), ...moveSchema(body) };
  const refusals = [...listRefusals(requested, settings)];
  const folder =
    requested.workdir === undefined
      ? ''
      : await resolveAllowedFolder(requested.workdir, { roots, data }).catch((error: unknown) => {
          if (!(error instanceof RequestError)) throw error;
          refusals.push({ code: error.code, path: 'workdir', message: error.message });
          return '';
        });
  try {
    checkSchemaSize(requested);
    const { spec } = checkRunSpec(requested, { agents, placements: ['local', ...Object.keys(settings.placements)] });
    const [first] = refusals;
    if (first === undefined) return { ...spec, workdir: folder };
    const issues = refusals.map(({ path, message }) => ({ path, message }));
    throw new RequestError(first.code, issues.map(({ message }) => message).join(' '), { issues });
  } catch (error) {
    if (!(error instanceof RunSpecError)) throw error;
    const isShort = body.schema !== undefined;
    const issues = error.issues.map(({ path, message }) => {
      const [parent, ...rest] = path;
      return { path: isShort && parent === 'contract' && rest[0] === 'schema' ? rest : path, message };
    });
    throw new RunSpecError([...issues, ...refusals.map(({ path, message }) => ({ path: [path], message }))]);
  }
}

/** Lists what is wrong with the valid part of an invalid request for a run. */
export function createRunIssueList(server: ServerContext): ListFurtherIssues {
  return async (body, issues) => {
    if (!isJsonObject(body)) return [];
    const isReported = (path: string): boolean =>
      issues.some((issue) => issue.path.split('.', 1)[0] === path.split('.', 1)[0]);
    const rest = Object.fromEntries(Object.entries(body).filter(([key]) => !isReported(key)));
    try {
      // The shape of what is left was valid.
      await checkRunRequest(rest as RequestedRun, server);
      return [];
    } catch (error) {
      return (describeProblem(error, '').issues ?? []).filter(({ path }) => !isReported(path));
    }
  };
}

/** The maximum size of a schema. Compiling a larger one would delay other requests. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

function checkSchemaSize({ contract }: Pick<RequestedRun, 'contract'>): void {
  if (contract?.schema === undefined || JSON.stringify(contract.schema).length <= MAX_SCHEMA_CHARACTERS) return;
  const message = `is larger than ${MAX_SCHEMA_CHARACTERS} characters; use a smaller schema`;
  throw new RunSpecError([{ path: ['contract', 'schema'], message }]);
}

interface ReplyOptions {
  readonly store: Pick<Store, 'postReply' | 'keepRefusedAnswer' | 'findRun' | 'read' | 'watch'>;
  readonly shutdownSignal: AbortSignal;
  readonly timeoutMs: number;
}

/** How often the store is polled, because its notifications can be late or missing. */
const POLL_MS = 250;
/** Larger than any sequence number of an event. */
const LAST_SEQ = 999_999_999;
const PAGE_SIZE = 1000;

/**
 * Stores a reply to a waiting run, and returns once the run has received it. A reply that is only stored is not
 * acknowledged, because the worker that should receive it might have died. Throws `INVALID_REPLY` for an empty reply.
 */
export async function replyToRun(options: ReplyOptions, id: string, text: string) {
  const { store } = options;
  const reply = encodeReply(text);
  if (reply.trim() === '') throw new SluiceError('INVALID_REPLY', 'The reply is empty. Send some text.');
  const readQuestions = createAttemptReader(store, id, await findLastAttempt(store, id));
  const { open, asksForText } = await readQuestions();
  // Otherwise the run would not accept it, and an answer to the request would have to wait for it.
  if (open.size > 0 && !asksForText) return 'not_waiting';
  return post(options, id, reply, {
    // A reply starts the next attempt, which shows that the run has received it.
    isReceived: async () => (await readQuestions()).isOver,
    name: 'reply',
    advice: 'Start another run with the question and the answer in its prompt.',
  });
}

/**
 * Stores the answer to a permission request, and returns once the run has received it: when the run publishes the
 * answer. An answer that comes too late is refused, and kept with the run.
 */
export async function answerPermission(options: ReplyOptions, id: string, reply: PermissionReply) {
  const { store } = options;
  const { interaction_id: interaction, option_id: optionId } = reply;
  const attempt = Number(/^px_(?<attempt>\d{1,6})_\d{1,9}$/u.exec(interaction)?.groups?.['attempt'] ?? 0);
  const readQuestions = createAttemptReader(store, id, attempt);
  const { permissions, open } = await readQuestions();
  const question = permissions.get(interaction);
  if (question === undefined) return (await store.findRun(id)) === undefined ? 'not_found' : 'not_waiting';
  const optionIds = question.options.map((option) => option.id);
  if (!optionIds.includes(optionId)) {
    const message = `The permission request has no option "${optionId}". Use one of: ${optionIds.join(', ')}.`;
    throw new RequestError('INVALID_BODY', message);
  }
  const keep = async (): Promise<void> => store.keepRefusedAnswer(id, { ...reply, at: new Date().toISOString() });
  const isReceived = async (): Promise<boolean> => !(await readQuestions()).open.has(interaction);
  try {
    const posted = { isReceived, name: 'answer', advice: 'Start another run.' };
    const status = open.has(interaction) ? await post(options, id, encodeReply(reply), posted) : 'not_waiting';
    if (status === 'not_waiting') await keep();
    return status;
  } catch (error) {
    if (error instanceof RequestError && error.code === 'RUN_NOT_WAITING') await keep();
    throw error;
  }
}

interface PostedReply {
  readonly isReceived: () => Promise<boolean>;
  /** The noun for messages. */
  readonly name: string;
  /** The next step if the run ends first, for messages. */
  readonly advice: string;
}

/** Stores a reply, and returns once the run has received it. */
async function post(
  { store, shutdownSignal, timeoutMs }: ReplyOptions,
  id: string,
  reply: string,
  { isReceived, name, advice }: PostedReply,
) {
  const status = await store.postReply(id, reply);
  if (status !== 'posted') return status;
  const deadline = performance.now() + timeoutMs;
  const waker = createWaker();
  const stopWatching = store.watch(id, waker.wake);
  try {
    while (!shutdownSignal.aborted && performance.now() < deadline) {
      // The run is loaded before its events, so no event is missed if it has ended.
      const run = await store.findRun(id);
      if (await isReceived()) return status;
      if (run?.state === 'ended')
        throw new RequestError('RUN_NOT_WAITING', `The run ended before it received the ${name}. ${advice}`);
      await waker.sleep(POLL_MS);
    }
  } finally {
    stopWatching();
  }
  throw new RequestError(
    'REQUEST_TIMED_OUT',
    `The ${name} is stored, but the run has not received it yet. Check the run's events.`,
  );
}

async function findLastAttempt(store: ReplyOptions['store'], id: string): Promise<number> {
  for (let last = 1; ;) {
    const [next] = await store.read({ runId: id, protocol: 'rasp', after: `${last}:${LAST_SEQ}`, limit: 1 });
    if (next?.protocol !== 'rasp') return last;
    last = next.event.attempt_number;
  }
}

/** Creates a function that returns what an attempt has asked so far, and what is still open; each event is read once. */
function createAttemptReader(store: ReplyOptions['store'], id: string, attempt: number) {
  const permissions = new Map<string, RaspData<'interaction.permission.required'>>();
  const open = new Set<string>();
  const questions = { permissions, open, asksForText: false, isOver: false };
  let after = `${attempt}:0`;

  function add(event: RaspEvent): void {
    after = `${event.attempt_number}:${event.seq}`;
    if (event.attempt_number > attempt) {
      questions.isOver = true;
      open.clear();
    } else if (isRasp(event, 'interaction.user_input.required')) questions.asksForText = true;
    else if (isRasp(event, 'interaction.permission.required')) {
      permissions.set(event.data.interaction_id, event.data);
      open.add(event.data.interaction_id);
    } else if (isRasp(event, 'interaction.permission.replied')) open.delete(event.data.interaction_id);
  }

  return async () => {
    for (let isLast = false; !isLast && !questions.isOver;) {
      const page = await store.read({ runId: id, protocol: 'rasp', after, limit: PAGE_SIZE });
      isLast = page.length < PAGE_SIZE;
      for (const emitted of page) if (emitted.protocol === 'rasp' && !questions.isOver) add(emitted.event);
    }
    return questions;
  };
}
