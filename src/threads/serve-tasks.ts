import { parentPort } from 'node:worker_threads';

/** A thread's reply, or the error it threw. */
export type ThreadReply = { readonly reply: unknown } | { readonly error: unknown };

/** Answers the tasks that the pool sends to this thread, one after the other. */
export function serveTasks(perform: (task: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  port.on('message', (task: unknown) => port.postMessage(answer(perform, task)));
}

function answer(perform: (task: never) => unknown, task: unknown): ThreadReply {
  try {
    // The pool of this thread sends no other tasks.
    return { reply: perform(task as never) };
  } catch (error) {
    return { error };
  }
}
