import { createWaker } from '../../orders/dispatch/index.js';
import { isRasp } from '../../events/index.js';
import type { RaspData, RaspEvent } from '../../events/index.js';
import { encodeReply } from '../../store/records/index.js';
import type { PermissionReply } from '../../store/records/index.js';
import { RequestError } from '../http/problem.js';
import { POLL_MS } from './reply-to-run.js';
import type { ReplyOptions } from './reply-to-run.js';

/** The number of events per read. */
const PAGE_SIZE = 1000;

/**
 * Stores the answer to a permission request, and returns once the run has received it: when the run publishes the
 * answer or, if its process is gone, when the next attempt resumes the session.
 */
export async function answerPermission(options: ReplyOptions, id: string, reply: PermissionReply) {
  const { store, shutdownSignal, timeoutMs } = options;
  const search = new QuestionSearch(store, id, reply.interaction_id);
  await search.readNewEvents();
  const { question } = search;
  if (question === null || search.isAnswered) {
    return (await store.findRun(id)) === undefined ? ('not_found' as const) : ('not_waiting' as const);
  }
  if (!question.options.some((option) => option.id === reply.option_id)) {
    const optionIds = question.options.map((option) => option.id).join(', ');
    throw new RequestError(
      'INVALID_BODY',
      `The permission request has no option "${reply.option_id}". Use one of: ${optionIds}.`,
    );
  }
  const status = await store.postReply(id, encodeReply(reply));
  if (status !== 'posted') return status;
  const deadline = performance.now() + timeoutMs;
  const waker = createWaker();
  const stopWatching = store.watch(id, waker.wake);
  try {
    while (!shutdownSignal.aborted && performance.now() < deadline) {
      // The run is loaded before its events, so no event is missed if it has ended.
      const run = await store.findRun(id);
      await search.readNewEvents();
      if (search.isAnswered) return status;
      if (run?.state === 'ended')
        throw new RequestError('RUN_NOT_WAITING', 'The run ended before it received the answer. Start another run.');
      await waker.sleep(POLL_MS);
    }
  } finally {
    stopWatching();
  }
  throw new RequestError(
    'REQUEST_TIMED_OUT',
    "The answer is stored, but the run has not received it yet. Check the run's events.",
  );
}

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
