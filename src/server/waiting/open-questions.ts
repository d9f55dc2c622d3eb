import type { FcmpEvent } from '../../events/index.js';
import type { Store } from '../../store/index.js';

/** A question or a permission request without an answer. */
export type OpenQuestion = Extract<FcmpEvent, { type: 'user.input.required' | 'permission.required' }>;

/** Reads the open questions of runs that wait. */
export interface QuestionReader {
  readonly read: (run: string) => Promise<readonly OpenQuestion[]>;
}

/** Runs whose position is remembered: more do not wait at once on one server. */
const MAX_RUNS = 500;
/** Events before the end that are searched: an agent that waits says little more. */
const WINDOW = 500;
const PAGE = 1000;
/** A log of 2^40 events is longer than any. */
const MAX_STEPS = 80;

/**
 * Creates a reader of open questions. The end of a log is found once, in some twenty short reads; later only new events are
 * read.
 */
export function createQuestionReader(store: Pick<Store, 'read'>): QuestionReader {
  const known = new Map<string, { readonly last: number; readonly open: readonly OpenQuestion[] }>();

  async function readPage(run: string, after: number, limit: number): Promise<readonly FcmpEvent[]> {
    const page = await store.read({ runId: run, protocol: 'fcmp', after, limit });
    return page.flatMap((emitted) => (emitted.protocol === 'fcmp' ? [emitted.event] : []));
  }
  /** The last number after which there are events, found by doubling and halving. */
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
      const before = known.get(run) ?? { last: Math.max(0, (await findEnd(run)) - WINDOW), open: [] };
      let { last, open } = before;
      for (;;) {
        const events = await readPage(run, last, PAGE);
        open = followQuestions(open, events);
        last = events.at(-1)?.seq ?? last;
        if (events.length < PAGE) break;
      }
      known.delete(run);
      known.set(run, { last, open });
      for (const oldest of known.keys()) {
        if (known.size <= MAX_RUNS) break;
        known.delete(oldest);
      }
      return open;
    },
  };
}

/** The questions that are open after some more events. */
export function followQuestions(open: readonly OpenQuestion[], events: readonly FcmpEvent[]): readonly OpenQuestion[] {
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
    if (event.type === 'user.input.required' || event.type === 'permission.required') questions = [...questions, event];
  }
  return questions;
}
