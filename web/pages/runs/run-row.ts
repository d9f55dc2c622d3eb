import type { RunSummary } from '../../../src/api/index.js';

/** What a row says of a run. */
export interface RunRow {
  /** How far it is, or what came of it. */
  readonly state: string;
  readonly isLive: boolean;
  /** What was asked, on one line. */
  readonly title: string;
  /** Why it failed. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly tookMs: number | null;
}

/** A run as the list shows it at a moment. */
export function rowOf(
  { state, spec, order, result, started_at, ended_at, cancel_requested }: RunSummary,
  now: number,
): RunRow {
  const isLive = state === 'running';
  return {
    state: cancel_requested && isLive ? 'canceling' : (result?.status ?? state),
    isLive,
    title: titleOf(spec, order),
    failure: result?.error === undefined ? null : { code: result.error.code, message: oneLine(result.error.message) },
    // A clock that runs a little behind that of the server must not show a time before the beginning.
    tookMs:
      started_at === null
        ? null
        : Math.max(0, (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)),
  };
}

/** What was asked; a worker that is no agent has an order instead of a prompt. */
function titleOf({ prompt = '', program = 'no prompt' }: RunSummary['spec'], order: RunSummary['order']): string {
  const asked = oneLine(prompt);
  if (asked !== '') return asked;
  return order === null ? program : `Order ${order.run_id}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
