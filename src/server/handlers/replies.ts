import { SluiceError } from '../../base/index.js';
import { isRasp, type RaspData, type RaspEvent } from '../../events/index.js';
import { createWaker } from '../../orders/dispatch/index.js';
import type { Store } from '../../store/index.js';
import { encodeReply, type PermissionReply } from '../../store/records/index.js';
import { RequestError } from '../http/problem.js';

interface ReplyOptions {
  readonly store: Pick<Store, 'postReply' | 'keepRefusedAnswer' | 'findRun' | 'read' | 'watch'>;
  /** Aborted when the server shuts down. */
  readonly shutdownSignal: AbortSignal;
  /** The maximum time to wait for the run. */
  readonly timeoutMs: number;
}

/** How often the store is polled, because its notifications can be late or missing. */
const POLL_MS = 250;
/** Larger than any sequence number of an event. */
const LAST_SEQ = 999_999_999;

/**
 * Stores a reply to a waiting run, and returns once the run has received it. A reply that is only stored is not
 * acknowledged, because the worker that should receive it might have died. Throws `INVALID_REPLY` for an empty reply.
 */
export async function replyToRun(options: ReplyOptions, id: string, text: string) {
  const { store } = options;
  const reply = encodeReply(text);
  if (reply.trim() === '') throw new SluiceError('INVALID_REPLY', 'The reply is empty. Send some text.');
  // A reply starts the next attempt, which shows that the run has received it.
  const attempt = await findLastAttempt(store, id);
  return post(options, id, reply, {
    isReceived: async () => (await findAttemptAfter(store, id, attempt)) !== undefined,
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
  const search = new QuestionSearch(store, id, reply.interaction_id);
  await search.readNewEvents();
  const { question } = search;
  if (question === null) return (await store.findRun(id)) === undefined ? 'not_found' : 'not_waiting';
  const keep = async (): Promise<void> => store.keepRefusedAnswer(id, { ...reply, at: new Date().toISOString() });
  if (!question.options.some((option) => option.id === reply.option_id)) {
    const optionIds = question.options.map((option) => option.id).join(', ');
    throw new RequestError(
      'INVALID_BODY',
      `The permission request has no option "${reply.option_id}". Use one of: ${optionIds}.`,
    );
  }
  const isReceived = async (): Promise<boolean> => {
    await search.readNewEvents();
    return search.isAnswered;
  };
  const refused = search.isAnswered ? 'not_waiting' : undefined;
  try {
    const status =
      refused ??
      (await post(options, id, encodeReply(reply), { isReceived, name: 'answer', advice: 'Start another run.' }));
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
    const next = await findAttemptAfter(store, id, last);
    if (next === undefined) return last;
    last = next;
  }
}

async function findAttemptAfter(
  store: ReplyOptions['store'],
  id: string,
  attempt: number,
): Promise<number | undefined> {
  const [first] = await store.read({ runId: id, protocol: 'rasp', after: `${attempt}:${LAST_SEQ}`, limit: 1 });
  return first?.protocol === 'rasp' ? first.event.attempt_number : undefined;
}

/** The number of events per read. */
const PAGE_SIZE = 1000;

/** Finds a permission request and its answer in the events of its attempt. Each event is read once. */
class QuestionSearch {
  readonly #store: ReplyOptions['store'];
  readonly #run: string;
  readonly #interaction: string;
  readonly #attempt: number;
  #after: string;
  question: RaspData<'interaction.permission.required'> | null = null;
  isAnswered = false;

  constructor(store: ReplyOptions['store'], run: string, interaction: string) {
    this.#store = store;
    this.#run = run;
    this.#interaction = interaction;
    this.#attempt = Number(/^px_(?<attempt>\d{1,6})_\d{1,9}$/u.exec(interaction)?.groups?.['attempt'] ?? 0);
    this.#after = `${this.#attempt}:0`;
  }

  async readNewEvents(): Promise<void> {
    if (this.#attempt === 0) return;
    for (;;) {
      const page = await this.#store.read({ runId: this.#run, protocol: 'rasp', after: this.#after, limit: PAGE_SIZE });
      for (const emitted of page) if (emitted.protocol === 'rasp') this.#read(emitted.event);
      if (page.length < PAGE_SIZE || this.isAnswered) return;
    }
  }

  #read(event: RaspEvent): void {
    this.#after = `${event.attempt_number}:${event.seq}`;
    if (event.attempt_number > this.#attempt) this.isAnswered = true;
    else if (isRasp(event, 'interaction.permission.required')) {
      if (event.data.interaction_id === this.#interaction) this.question = event.data;
    } else if (isRasp(event, 'interaction.permission.replied')) {
      if (event.data.interaction_id === this.#interaction) this.isAnswered = true;
    }
  }
}
