import type { Numbered, WorkerAnswer, WorkerQuestion } from './text-reader.js';

/** The part of a worker that is used here. */
export type WorkerLike = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>;

/** A worker that can be aborted at any time: the next request starts another. */
export interface WorkerLink {
  /** The number that the next question will have. */
  readonly next: number;
  /** Null when the request was aborted; throws when the worker cannot answer. */
  ask(question: WorkerQuestion): Promise<WorkerAnswer | null>;
  /** Ends a worker that is at something, and says whether there was one; one that is at nothing stays. */
  giveUp(): boolean;
  /** Ends the worker. */
  close(): void;
}

/** A browser may silently stop a worker that takes too much memory: requests time out after this. */
const TIMEOUT_MS = 120_000;

const CANNOT_START = 'The parser worker could not be loaded or was stopped by the browser.';
const TOO_SLOW = `No answer for ${TIMEOUT_MS / 60_000} minutes: the text takes too long to parse in the browser.`;

interface Waiting {
  readonly resolve: (answer: WorkerAnswer | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Asks a worker, which is started with the first question. */
export function openWorker(start: () => WorkerLike): WorkerLink {
  const waiting = new Map<number, Waiting>();
  let worker: WorkerLike | null = null;
  let next = 1;

  function begin(): WorkerLike {
    const started = start();
    started.addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerAnswer>>) => {
      const question = waiting.get(number);
      waiting.delete(number);
      clearTimeout(question?.timer);
      if (message.kind === 'broken') question?.reject(new Error(message.message));
      else question?.resolve(message);
    });
    // A missing or blocked file has no message.
    started.addEventListener('error', ({ message = '' }: Partial<ErrorEvent>) => {
      if (started === worker) end(({ reject }) => reject(new Error(message === '' ? CANNOT_START : message)));
    });
    return started;
  }

  function end(settle: (question: Waiting) => void): void {
    worker?.terminate();
    worker = null;
    const questions = [...waiting.values()];
    waiting.clear();
    for (const question of questions) {
      clearTimeout(question.timer);
      settle(question);
    }
  }

  return {
    get next() {
      return next;
    },
    async ask(question) {
      return new Promise((resolve, reject) => {
        worker ??= begin();
        const number = next++;
        const timer = setTimeout(() => end((one) => one.reject(new Error(TOO_SLOW))), TIMEOUT_MS);
        waiting.set(number, { resolve, reject, timer });
        const numbered: Numbered<WorkerQuestion> = { number, message: question };
        // A worker's postMessage has no origin to name.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        worker.postMessage(numbered);
      });
    },
    giveUp() {
      if (waiting.size === 0) return false;
      end(({ resolve }) => resolve(null));
      return true;
    },
    close() {
      end(({ resolve }) => resolve(null));
    },
  };
}
