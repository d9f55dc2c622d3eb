import { LeadError } from '../orders/index.js';

/** That an answer came too late, with the run that counts now. */
export class LateDecision extends LeadError {
  readonly activeRunId: string | null;

  constructor(cause: Error, activeRunId: string | null) {
    super('CONFLICT', cause.message, { cause });
    this.activeRunId = activeRunId;
  }
}
