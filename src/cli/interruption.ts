/** Ctrl-C, or a polite request to end, as a signal. A second one is obeyed by the system itself. */
export interface Interruption {
  readonly signal: AbortSignal;
  stopListening(): void;
}

/** Turns the next interruption of this process into an abort, so that a command can end what it began. */
export function listenForInterruption(): Interruption {
  const controller = new AbortController();
  const stopListening = (): void => {
    process.off('SIGINT', abort);
    process.off('SIGTERM', abort);
  };
  const abort = (): void => {
    stopListening();
    controller.abort();
  };
  process.once('SIGINT', abort);
  process.once('SIGTERM', abort);
  return { signal: controller.signal, stopListening };
}

/** Waits for the interruption of this process. */
export async function untilInterrupted({ signal }: Pick<Interruption, 'signal'>): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
