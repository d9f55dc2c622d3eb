import { omitMissing } from '../../reading/omit-missing.js';
import { booleanField, field, nameField, objectField, stringField } from '../../reading/record-fields.js';
import type { Conversation } from './conversation.js';

/** Fields every record has; they are no detail of one. */
const ENVELOPE: ReadonlySet<string> = new Set(['type', 'subtype', 'uuid', 'session_id', 'parent_tool_use_id']);

/** Reads a `system` record. Only `init` names the session: hooks before it may carry an id that is thrown away. */
export function readSystem(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const subtype = stringField(record, 'subtype');
  const known = subtype === null ? undefined : dialect.tables.system[subtype];
  if (subtype === null || known === undefined) return report.unknownType(`system ${subtype ?? 'without a subtype'}`);
  report.checkFields(record, known, `system(${subtype})`);
  if (subtype === 'init') return readInit(record, conversation);
  const error = dialect.systemError(subtype, record);
  if (error === null) return report.status({ status: subtype, detail: detailOf(record) });
  // What is printed next is a new answer, not the rest of the one that broke off.
  const keepsText = booleanField(objectField(record, 'data') ?? {}, 'preserveText') === true;
  if (error.retrying === true && !keepsText) conversation.agent.discard();
  report.engineError(error);
}

function readInit(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  conversation.startsTurn();
  report.engineVersion(nameField(record, dialect.versionField));
  report.status({
    status: 'init',
    session_id: nameField(record, 'session_id'),
    model: nameField(record, 'model'),
    detail: omitMissing({
      cwd: field(record, 'cwd'),
      permission_mode: field(record, dialect.permissionField),
      tools: field(record, 'tools'),
      mcp_servers: field(record, 'mcp_servers'),
      plugin_errors: field(record, 'plugin_errors'),
      mcp_server_errors: field(record, 'mcp_server_errors'),
    }),
  });
}

/** A record as the program printed it, without what all records have. */
export function detailOf(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !ENVELOPE.has(key)));
}
