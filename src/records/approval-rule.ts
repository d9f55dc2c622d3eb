import { name, object, oneOf, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/**
 * A rule about the tools that an agent asks for. All of its patterns must match; `*` matches any characters, except that in
 * `path` it does not match a slash, while `**` does. The first rule that matches decides.
 */
export const approvalRuleSchema = object(
  { decide: oneOf(['allow', 'deny', 'ask']) },
  {
    tool: name,
    /** The command line that the tool would run. */
    command: name,
    /** A file that the tool names, relative to the working folder. */
    path: name,
    why: text,
  },
);

/** See {@link approvalRuleSchema}. */
export type ApprovalRule = FromSchema<typeof approvalRuleSchema>;

/** The rules of a configuration or a run. */
export const approvalRulesSchema = { type: 'array', maxItems: 1000, items: approvalRuleSchema } as const;
