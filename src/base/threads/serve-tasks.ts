import { parentPort } from 'node:worker_threads';

/** The messages of a thread: once that it takes tasks, then for each task its reply, or the error that it threw. */
export type ThreadMessage = { readonly ready: true } | ThreadReply;

type ThreadReply = { readonly reply: unknown } | { readonly error: unknown };

/** Runs the tasks that the pool sends to this thread, one at a time. */
export function serveTasks(handleTask: (task: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs only in a worker thread.');
  port.on('message', (task: unknown) => port.postMessage(runTask(handleTask, task)));
  port.postMessage({ ready: true } satisfies ThreadMessage);
}

function runTask(handleTask: (task: never) => unknown, task: unknown): ThreadReply {
  try {
    // The pool sends only tasks of this type.
    return { reply: handleTask(task as never) };
  } catch (error) {
    return { error };
  }
}
