import type { Numbered, WorkerResponse, WorkerRequest } from './text-reader.js';

/** The part of a worker that is used here. */
export type WorkerLike = Pick<Worker, 'postMessage' | 'terminate' | 'addEventListener'>;

/** A link to a worker that can be terminated at any time; the next request starts another worker. */
export interface WorkerLink {
  /** The id of the next request. */
  readonly next: number;
  /** Sends a request. Null if it was canceled; throws if the worker fails. */
  send(request: WorkerRequest): Promise<WorkerResponse | null>;
  /** Terminates the worker if it is busy, and returns whether it was; an idle worker stays. */
  cancel(): boolean;
  /** Terminates the worker. */
  close(): void;
}

/** Requests time out, because a browser can silently stop a worker that needs too much memory. */
const TIMEOUT_MS = 120_000;

const CANNOT_START =
  'The parser worker could not be loaded, or the browser stopped it. Try again, or use shorter output.';
const TOO_SLOW = `No response for ${TIMEOUT_MS / 60_000} minutes: the output takes too long to parse in the browser. Use shorter output, or sluice parse.`;

interface PendingRequest {
  readonly resolve: (response: WorkerResponse | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Creates a link to a worker, which is started with the first request. */
export function openWorker(start: () => WorkerLike): WorkerLink {
  const pending = new Map<number, PendingRequest>();
  let worker: WorkerLike | null = null;
  let next = 1;

  function startWorker(): WorkerLike {
    const started = start();
    started.addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerResponse>>) => {
      const request = pending.get(number);
      pending.delete(number);
      clearTimeout(request?.timer);
      if (message.kind === 'failed') request?.reject(new Error(message.message));
      else request?.resolve(message);
    });
    // If the file is missing or blocked, the event has no message.
    started.addEventListener('error', ({ message = '' }: Partial<ErrorEvent>) => {
      if (started === worker) end(({ reject }) => reject(new Error(message === '' ? CANNOT_START : message)));
    });
    return started;
  }

  /** Terminates the worker and settles all pending requests. */
  function end(settle: (request: PendingRequest) => void): void {
    worker?.terminate();
    worker = null;
    const requests = [...pending.values()];
    pending.clear();
    for (const request of requests) {
      clearTimeout(request.timer);
      settle(request);
    }
  }

  return {
    get next() {
      return next;
    },
    async send(request) {
      return new Promise((resolve, reject) => {
        worker ??= startWorker();
        const number = next++;
        const timer = setTimeout(
          () => end(({ reject: rejectPending }) => rejectPending(new Error(TOO_SLOW))),
          TIMEOUT_MS,
        );
        pending.set(number, { resolve, reject, timer });
        const numberedRequest: Numbered<WorkerRequest> = { number, message: request };
        // A worker's `postMessage` has no target origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        worker.postMessage(numberedRequest);
      });
    },
    cancel() {
      if (pending.size === 0) return false;
      end(({ resolve }) => resolve(null));
      return true;
    },
    close() {
      end(({ resolve }) => resolve(null));
    },
  };
}
