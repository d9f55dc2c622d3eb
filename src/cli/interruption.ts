/** An abort signal for SIGINT, SIGTERM or SIGHUP. A second signal terminates the process. */
export interface Interruption {
  readonly signal: AbortSignal;
  stopListening(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Turns the next interruption into an abort, so a command can shut down cleanly. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, abort);
  };
  const abort = (): void => {
    stopListening();
    controller.abort();
  };
  for (const signal of SIGNALS) process.once(signal, abort);
  return { signal: controller.signal, stopListening };
}

/** Waits until this process is interrupted. */
export async function waitForInterruption({ signal }: Pick<Interruption, 'signal'>): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
