import { once } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command with a signal that the next SIGINT, SIGTERM or SIGHUP aborts, so it can shut down cleanly. A second
 * interruption terminates the process.
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, abort);
  };
  const abort = (): void => {
    stopListening();
    controller.abort();
  };
  for (const signal of SIGNALS) process.once(signal, abort);
  try {
    return await work(controller.signal);
  } finally {
    stopListening();
  }
}

export async function waitForInterruption(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
