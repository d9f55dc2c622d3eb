import { startWorker } from './start-worker.js';
import type { WorkerAnswer, WorkerQuestion } from './worker-messages.js';

type Unnumbered<Question> = Question extends unknown ? Omit<Question, 'number'> : never;

/** A worker that is asked one thing after the other, and replaced when it takes too long for what is no longer wanted. */
export interface WorkerLink {
  /** Null when the worker was replaced before it answered. */
  ask(question: Unnumbered<WorkerQuestion>): Promise<WorkerAnswer | null>;
  /** Gives up what the worker is at. */
  replace(): void;
  close(): void;
}

/** Starts a worker and keeps count of what it was asked. */
export function openWorker(): WorkerLink {
  const waiting = new Map<number, (answer: WorkerAnswer | null) => void>();
  let worker = start();
  let last = 0;
  let isClosed = false;

  function start(): Worker {
    const started = startWorker();
    started.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => {
      waiting.get(data.number)?.(data);
      waiting.delete(data.number);
    });
    started.addEventListener('error', ({ message }) => {
      for (const [number, answer] of waiting) answer({ kind: 'broken', number, message });
      waiting.clear();
    });
    return started;
  }

  function giveUp(): void {
    worker.terminate();
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
  }

  return {
    async ask(question) {
      last += 1;
      const number = last;
      return new Promise((resolve) => {
        waiting.set(number, resolve);
        // A worker's postMessage has no origin to name.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        worker.postMessage({ ...question, number });
      });
    },
    replace() {
      if (isClosed) return;
      giveUp();
      worker = start();
    },
    close() {
      isClosed = true;
      giveUp();
    },
  };
}
