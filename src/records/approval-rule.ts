import { name, object, oneOf, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/**
 * A rule about the tools an agent asks for. Every pattern it has must match; `*` stands for any characters, in `path` for
 * any but a slash, and `**` there for any. The first rule that matches decides.
 */
export const approvalRuleSchema = object(
  { decide: oneOf(['allow', 'deny', 'ask']) },
  {
    tool: name,
    /** The command line a tool would run. */
    command: name,
    /** A file the tool names, relative to the working folder. */
    path: name,
    why: text,
  },
);

/** See {@link approvalRuleSchema}. */
export type ApprovalRule = FromSchema<typeof approvalRuleSchema>;

/** The rules of a configuration or a run. */
export const approvalRulesSchema = { type: 'array', maxItems: 1000, items: approvalRuleSchema } as const;
