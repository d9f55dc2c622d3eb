import type { RunResult } from '../records/index.js';

/** What comes of a run that is canceled before anyone has taken it: it is over at once. */
export const CANCELED_IN_QUEUE: RunResult = {
  status: 'canceled',
  repair_level: 'none',
  warnings: [],
  error: { category: 'canceled', code: 'RUN_CANCELED', message: 'the run was canceled before it began' },
  artifacts: { created: [], modified: [], deleted: [] },
  attempts: 0,
  session_id: null,
};
