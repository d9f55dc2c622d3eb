import type { Report } from '../report.js';

/** `Reconnecting... 2/5 (…)`: the only mark of a retry that Codex prints. */
const RETRY = /^Reconnecting\.\.\.(?: (\d{1,6})\/(\d{1,6}))?/u;

/** Tells an error Codex prints. Not terminal by itself: either Codex recovers, or its turn fails. */
export function readErrorMessage(message: string, report: Report): void {
  const retry = RETRY.exec(message);
  if (retry === null) return report.engineError({ message });
  const [, attempt, maxAttempts] = retry;
  report.engineError({
    message,
    retrying: true,
    attempt: attempt === undefined ? null : Number(attempt),
    maxAttempts: maxAttempts === undefined ? null : Number(maxAttempts),
  });
}
