import { arrayOf, object, oneOf, text, type FromSchema } from '../../base/index.js';
import { evidenceSchema } from './evidence.js';
import { RESULT_CODES } from './result-code.js';

/** The possible decisions about an order. */
export const decisionAction = oneOf(['advance', 'archive', 'needs-human', 'blocked']);

/** A decision about an order. */
export const decisionSchema = object(
  {
    action: decisionAction,
    /** Explains the decision to users. */
    reason: text,
    result_code: oneOf(RESULT_CODES),
    /** What to do next, for users. */
    next: text,
  },
  {
    /** Evidence for the decision; absent in decisions made by earlier versions. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** A decision about an order; `reason` and `next` are written for users. */
export type Decision = FromSchema<typeof decisionSchema>;
