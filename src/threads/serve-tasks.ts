import { parentPort } from 'node:worker_threads';

/** What a thread answers: a reply, or the error it threw. */
export type ThreadReply = { readonly reply: unknown } | { readonly error: unknown };

/** Answers the tasks that the pool sends to this thread, one after the other. */
export function serveTasks(perform: (task: never) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  port.on('message', (task: never) => port.postMessage(answer(perform, task)));
}

function answer(perform: (task: never) => unknown, task: never): ThreadReply {
  try {
    return { reply: perform(task) };
  } catch (error) {
    return { error };
  }
}
