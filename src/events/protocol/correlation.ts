import { name, object } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** What an event belongs to. A key that is not known yet, or never, is absent. */
export const correlationSchema = object(
  {},
  {
    session_id: name,
    tool_call_id: name,
    message_id: name,
    interaction_id: name,
  },
);

/** What an event belongs to: a session, a tool call, a message, a question. */
export type Correlation = FromSchema<typeof correlationSchema>;
