import type { WaitingEntry } from '../api/index.js';
import type { InboxItem, RunRecord, SinkState } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import type { FcmpEvent } from '../../events/index.js';

/** Everything that is waiting for a human. */
export interface WaitingList {
  readonly items: readonly WaitingEntry[];
  /** False if there are more entries of a kind than are listed. */
  readonly complete: boolean;
}

/** The maximum number of entries of each kind. */
const MAX_ENTRIES = 200;
/** The maximum text length. An agent's question can be megabytes long; the list contains only the start. */
const MAX_TEXT_LENGTH = 4000;
const MAX_TASK_LENGTH = 300;
const MAX_OPTIONS = 20;

/** Creates the list of everything waiting for a human, for the console and the notification webhook. */
export function createWaitingList(store: Pick<Store, 'read' | 'listRuns' | 'listInbox' | 'listSinks'>): {
  readonly read: () => Promise<WaitingList>;
} {
  const questions = createQuestionReader(store);
  return {
    async read() {
      const [runs, inbox, sinks] = await Promise.all([
        store.listRuns({ state: 'waiting', limit: MAX_ENTRIES }),
        store.listInbox({ open: true, limit: MAX_ENTRIES }),
        store.listSinks(),
      ]);
      const questionEntries = await Promise.all(
        runs.items.map(async (run) =>
          (await questions.read(run.id)).map((question) => describeQuestion(run, question)),
        ),
      );
      return {
        items: [
          ...questionEntries.flat().toSorted((one, other) => one.at.localeCompare(other.at)),
          ...sinks.flatMap(describeSink),
          ...inbox.items.map(describeItem),
        ],
        complete: runs.next_cursor === null && inbox.next_cursor === null,
      };
    },
  };
}

/** Converts an agent's question to an entry; its input is shortened. */
function describeQuestion(run: Pick<RunRecord, 'id' | 'spec' | 'order'>, question: OpenQuestion): WaitingEntry {
  const { data, ts, seq } = question;
  const common = {
    id: `${run.id}/${data.interaction_id}`,
    at: ts,
    run: run.id,
    engine: run.spec.engine,
    task: (run.spec.prompt ?? run.spec.command?.join(' ') ?? '').slice(0, MAX_TASK_LENGTH),
    issue_ref: run.order?.issue_ref ?? null,
    interaction_id: data.interaction_id,
    seq,
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

/** Reads the open questions of waiting runs. */
interface QuestionReader {
  readonly read: (run: string) => Promise<readonly OpenQuestion[]>;
}

/** The maximum number of runs whose position is cached. It is unlikely that more runs wait concurrently. */
const MAX_RUNS = 500;
/** The number of events searched before the end of a log: an agent prints little after its question. */
const WINDOW = 500;
const PAGE = 1000;
/** The maximum number of steps to find the end of a log: enough for 2^40 events. */
const MAX_STEPS = 80;

/**
 * Creates a reader of open questions. The end of a log is located once, with about twenty short reads; after that, only
 * new events are read.
 */
export function createQuestionReader(store: Pick<Store, 'read'>): QuestionReader {
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
    async read(run) {
      const before = cache.get(run) ?? { last: Math.max(0, (await findEnd(run)) - WINDOW), open: [] };
      let { last, open } = before;
      for (;;) {
        const events = await readPage(run, last, PAGE);
        open = updateQuestions(open, events);
        last = events.at(-1)?.seq ?? last;
        if (events.length < PAGE) break;
      }
      cache.delete(run);
      cache.set(run, { last, open });
      for (const oldest of cache.keys()) {
        if (cache.size <= MAX_RUNS) break;
        cache.delete(oldest);
      }
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
