import { setTimeout as wait } from 'node:timers/promises';
import type { ENDPOINTS, ResponseOf, WaitingEntry } from '../api/index.js';
import type { InboxItem, RunRecord, SinkState } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import type { FcmpEvent } from '../../events/index.js';
import { countChanges, cutText, readCommand, readFileChanges, type Logger, setLatest } from '../../base/index.js';
import { DEFAULT_LIMITS } from '../../runs/index.js';
import type { SignedPost } from '../../orders/index.js';
import type { OutboxStore } from '../../store/ports/index.js';
import { createTitles } from '../handlers/run-view.js';

export type WaitingList = ResponseOf<typeof ENDPOINTS.listWaiting>;

const MAX_ENTRIES = 200;
/** The maximum text length. An agent's question can be megabytes long; the list contains only the start. */
const MAX_TEXT_LENGTH = 4000;
const MAX_COMMAND_LENGTH = 300;
const MAX_OPTIONS = 20;

/** Creates the list of everything waiting for a human, for the console and the notification webhook. */
export function createWaitingList(store: Pick<Store, 'read' | 'listRuns' | 'listInbox' | 'listSinks' | 'findOrder'>) {
  const questions = createQuestionReader(store);
  const getTask = createTitles(store);
  return async (): Promise<WaitingList> => {
    const [runs, inbox, sinks] = await Promise.all([
      store.listRuns({ state: 'waiting', limit: MAX_ENTRIES }),
      store.listInbox({ open: true, limit: MAX_ENTRIES }),
      store.listSinks(),
    ]);
    const questionEntries = await Promise.all(
      runs.items.map(async (run) => {
        const task = await getTask(run);
        return (await questions.read(run.id)).map((question) => describeQuestion(run, task, question));
      }),
    );
    return {
      items: [
        ...questionEntries.flat().toSorted((one, other) => one.at.localeCompare(other.at)),
        ...sinks.flatMap(describeSink),
        ...inbox.items.map(describeItem),
      ],
      complete: runs.next_cursor === null && inbox.next_cursor === null,
    };
  };
}

/** Converts an agent's question to an entry; its input is shortened. */
function describeQuestion(
  run: Pick<RunRecord, 'id' | 'spec' | 'order'>,
  task: string,
  question: OpenQuestion,
): WaitingEntry {
  const { data, ts, seq } = question;
  const { wait_s, hold_s } = { ...DEFAULT_LIMITS, ...run.spec.limits };
  const after = (seconds: number): string => new Date(Date.parse(ts) + seconds * 1000).toISOString();
  const common = {
    id: `${run.id}/${data.interaction_id}`,
    at: ts,
    run: run.id,
    engine: run.spec.engine,
    task,
    issue_ref: run.order?.issue_ref ?? null,
    interaction_id: data.interaction_id,
    seq,
    held_until: after(Math.min(hold_s, wait_s)),
    expires_at: after(wait_s),
  };
  if (question.type === 'user.input.required') {
    const { prompt, options = [] } = question.data;
    return {
      ...common,
      kind: 'question',
      text: prompt.slice(0, MAX_TEXT_LENGTH),
      options: options.slice(0, MAX_OPTIONS),
    };
  }
  const { tool, input, diff = [], options } = question.data;
  const files = diff.map(({ path }) => path).join(', ');
  const inputText = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  const text = `Allow ${tool}? ${inputText}${files === '' ? '' : ` (changes ${files})`}`;
  return {
    ...common,
    kind: 'permission',
    tool,
    command: readCommand(input)?.slice(0, MAX_COMMAND_LENGTH) ?? null,
    changes: readFileChanges(input, diff)
      .slice(0, MAX_OPTIONS)
      .map(({ path, lines, isPartial = false }) => ({
        path,
        ...(isPartial ? { added: null, removed: null } : countChanges(lines)),
      })),
    text: text.slice(0, MAX_TEXT_LENGTH),
    options: options.slice(0, MAX_OPTIONS),
  };
}

function describeItem(item: InboxItem): WaitingEntry {
  const { id, created_at, reason, run, run_id, issue_ref, result_code, next, reading } = item;
  const { result } = reading;
  return {
    kind: 'result',
    id,
    at: created_at,
    text: reason.slice(0, MAX_TEXT_LENGTH),
    run,
    run_id,
    issue_ref,
    code: result_code,
    next: next.slice(0, MAX_TEXT_LENGTH),
    acceptable: result?.issue_ref === issue_ref && result.run_id === run_id,
  };
}

/** Converts a failing sink to an entry. A sink whose comments are only queued needs no attention. */
function describeSink({ name, state, open, dead, last_error, oldest_at }: SinkState): readonly WaitingEntry[] {
  if (state === 'waiting') return [];
  const text = (last_error ?? '').slice(0, MAX_TEXT_LENGTH);
  return [{ kind: 'sink', id: `sink ${name}`, at: oldest_at, text, sink: name, state, open, dead }];
}

/** A question or a permission request without an answer. */
export type OpenQuestion = Extract<FcmpEvent, { type: 'user.input.required' | 'permission.required' }>;

/** The maximum number of runs whose position is cached. It is unlikely that more runs wait concurrently. */
const MAX_RUNS = 500;
/** The number of events searched before the end of a log: an agent prints little after its question. */
const WINDOW = 500;
const PAGE = 1000;
/** The maximum number of steps to find the end of a log: enough for 2^40 events. */
const MAX_STEPS = 80;

/** Creates a reader of open questions. The end of a log is located once; after that, only new events are read. */
export function createQuestionReader(store: Pick<Store, 'read'>) {
  const cache = new Map<string, { readonly last: number; readonly open: readonly OpenQuestion[] }>();

  async function readPage(run: string, after: number, limit: number): Promise<readonly FcmpEvent[]> {
    const page = await store.read({ runId: run, protocol: 'fcmp', after, limit });
    return page.flatMap((emitted) => (emitted.protocol === 'fcmp' ? [emitted.event] : []));
  }
  /** Finds the highest sequence number after which there are events, by binary search. */
  async function findEnd(run: string): Promise<number> {
    let low = 0;
    let high: number | null = null;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (high !== null && high - low <= 1) break;
      const middle: number = high === null ? Math.max(PAGE, low * 2) : Math.floor((low + high) / 2);
      const [next] = await readPage(run, middle, 1);
      if (next === undefined) high = middle;
      else low = middle;
    }
    return low;
  }

  return {
    async read(run: string): Promise<readonly OpenQuestion[]> {
      const before = cache.get(run) ?? { last: Math.max(0, (await findEnd(run)) - WINDOW), open: [] };
      let { last, open } = before;
      for (;;) {
        const events = await readPage(run, last, PAGE);
        open = updateQuestions(open, events);
        last = events.at(-1)?.seq ?? last;
        if (events.length < PAGE) break;
      }
      setLatest(cache, MAX_RUNS, run, { last, open });
      return open;
    },
  };
}

/** Returns the questions that are still open after some more events. */
export function updateQuestions(open: readonly OpenQuestion[], events: readonly FcmpEvent[]): readonly OpenQuestion[] {
  let questions = open;
  for (const event of events) {
    if (event.type === 'permission.replied') {
      questions = questions.filter(({ data }) => data.interaction_id !== event.data.interaction_id);
      continue;
    }
    // A question ends its turn: any later event means that it was answered. So does the next attempt.
    questions = questions.filter(
      ({ type, meta }) => type === 'permission.required' && meta.attempt === event.meta.attempt,
    );
    if (event.type === 'conversation.completed' || event.type === 'conversation.failed') questions = [];
    if (event.type === 'user.input.required' && event.data.answerable === false) continue;
    if (event.type === 'user.input.required' || event.type === 'permission.required') questions = [...questions, event];
  }
  return questions;
}

export interface NotifyOptions {
  readonly post: SignedPost;
  readonly consoleUrl?: string | undefined;
  readonly store: Parameters<typeof createWaitingList>[0] & Pick<OutboxStore, 'readInstallation'>;
  readonly logger: Logger;
  readonly shutdownSignal: AbortSignal;
}

const POLL_MS = 3000;
/** The maximum number of requests per round. The rest are sent in later rounds. */
const MAX_PER_ROUND = 10;
/** An entry is dropped after this many failed attempts, about ten hours; the console still shows it. */
const MAX_ATTEMPTS = 20;
/** The pause after the first failure. It doubles after each further failure, up to an hour. */
const FIRST_PAUSE_MS = 3000;
const MAX_PAUSE_MS = 3_600_000;

/** Sends a signed request for each new entry in the waiting list, until the server shuts down. */
export async function notify({ post, consoleUrl = '', store, logger, shutdownSignal }: NotifyOptions): Promise<void> {
  const readList = createWaitingList(store);
  const sendRound = createRound(async (entry) => {
    // The key is also in the body, because the signature covers only the body.
    const key = `${await store.readInstallation()} waiting ${encodeURIComponent(entry.id)}`;
    await post({ ...toNotification(entry, consoleUrl), idempotency_key: key }, key, shutdownSignal);
  });
  while (!shutdownSignal.aborted) {
    try {
      const failures = await sendRound(await readList());
      for (const error of failures) logger.warn('cannot send notification', { error: String(error) });
    } catch (error) {
      logger.warn('cannot read the waiting list', { error: String(error) });
    }
    await wait(POLL_MS, undefined, { signal: shutdownSignal }).catch(() => undefined);
  }
}

interface DeliveryState {
  readonly count: number;
  /** When to try again, in milliseconds since 1970; infinity if the entry was sent or dropped. */
  readonly retryAt: number;
}

const NOT_ATTEMPTED: DeliveryState = { count: 0, retryAt: -Infinity };

/**
 * Creates a function that sends one round of concurrent requests: for new entries, and again for failed entries whose
 * pause is over. Entries that are no longer in the list are dropped, so memory use is bounded by the list.
 */
export function createRound(
  send: (entry: WaitingEntry) => Promise<void>,
  clock: () => number = Date.now,
): (list: WaitingList) => Promise<readonly unknown[]> {
  let attempts = new Map<string, DeliveryState>();
  return async ({ items }) => {
    attempts = new Map(items.map(({ id }) => [id, attempts.get(id) ?? NOT_ATTEMPTED]));
    const getAttempts = ({ id }: WaitingEntry): DeliveryState => attempts.get(id) ?? NOT_ATTEMPTED;
    // Entries with the fewest attempts come first, so entries that always fail do not block them.
    const dueEntries = items
      .filter((entry) => getAttempts(entry).retryAt <= clock())
      .toSorted((one, other) => getAttempts(one).count - getAttempts(other).count)
      .slice(0, MAX_PER_ROUND);
    const failures: unknown[] = [];
    await Promise.all(
      dueEntries.map(async (entry) => {
        const count = getAttempts(entry).count + 1;
        try {
          await send(entry);
          attempts.set(entry.id, { count, retryAt: Infinity });
        } catch (error) {
          failures.push(error);
          const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
          attempts.set(entry.id, { count, retryAt: count < MAX_ATTEMPTS ? clock() + pause : Infinity });
        }
      }),
    );
    return failures;
  };
}

/** The maximum text length: enough for a chat message. */
const MAX_MESSAGE_LENGTH = 1000;

/** Converts an entry for the webhook: its kind, its text, and the page where a user can answer it. */
export function toNotification(entry: WaitingEntry, consoleUrl: string): object {
  const { kind, id, at, text } = entry;
  const issueRef = entry.kind === 'sink' ? null : entry.issue_ref;
  return {
    event: 'waiting',
    id,
    kind,
    at,
    text: cutText(text, MAX_MESSAGE_LENGTH),
    issue_ref: issueRef,
    url: `${consoleUrl.replace(/\/$/, '')}${findPath(entry)}`,
  };
}

function findPath(entry: WaitingEntry): string {
  return entry.kind === 'result'
    ? `/inbox/${encodeURIComponent(entry.id)}`
    : `/inbox?entry=${encodeURIComponent(entry.id)}`;
}
