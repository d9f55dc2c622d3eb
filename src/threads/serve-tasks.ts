import { parentPort } from 'node:worker_threads';

/** The reply of a thread, or the error that the task threw. */
export type ThreadReply = { readonly reply: unknown } | { readonly error: unknown };

/** Runs the tasks that the pool sends to this thread, one at a time. */
export function serveTasks(handleTask: (task: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs only in a worker thread.');
  port.on('message', (task: unknown) => port.postMessage(runTask(handleTask, task)));
}

function runTask(handleTask: (task: never) => unknown, task: unknown): ThreadReply {
  try {
    // The pool sends only tasks of this type.
    return { reply: handleTask(task as never) };
  } catch (error) {
    return { error };
  }
}
