import type { FcmpEvent } from '../../events/index.js';
import type { Store } from '../../store/index.js';

/** A question or a permission request without an answer. */
export type OpenQuestion = Extract<FcmpEvent, { type: 'user.input.required' | 'permission.required' }>;

/** Reads the open questions of waiting runs. */
export interface QuestionReader {
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
