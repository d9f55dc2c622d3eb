import { arrayField, field, isRecord, nameField, objectField, stringField } from '../../reading/record-fields.js';
import type { PermissionAnswer, PermissionOption, PermissionQuestion } from '../report.js';
import { readCall } from './acp-tool-call.js';
import type { RpcMessage } from '../json-rpc.js';
import { resultFields } from '../json-rpc.js';

/** The request with which an agent asks for a permission. */
export const PERMISSION_METHOD = 'session/request_permission';

/** Options that are kept of one question; people cannot choose among more. */
const MAX_OPTIONS = 32;

const KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** What an agent asks with `session/request_permission`; null if it does not say about which call. */
export function readPermissionRequest(params: object): PermissionQuestion | null {
  const call = objectField(params, 'toolCall');
  const id = call === null ? null : nameField(call, 'toolCallId');
  if (call === null || id === null) return null;
  const title = nameField(call, 'title');
  return {
    call: readCall(id, call),
    // Gemini CLI sends no input: its title is all there is to decide by.
    ...(title === null ? undefined : { title }),
    options: arrayField(params, 'options').slice(0, MAX_OPTIONS).filter(isRecord).flatMap(readOption),
  };
}

function readOption(option: object): PermissionOption[] {
  const id = nameField(option, 'optionId');
  const kind = KINDS.find((name) => name === field(option, 'kind'));
  if (id === null || kind === undefined) return [];
  return [{ id, label: stringField(option, 'name') ?? id, kind }];
}

/** What was answered to the question, as `permission.replied` says it. An answer that chooses nothing denies. */
export function readPermissionAnswer(
  message: Extract<RpcMessage, { kind: 'result' | 'error' }>,
  options: readonly PermissionOption[],
): PermissionAnswer {
  const result = message.kind === 'result' ? resultFields(message.result) : {};
  const outcome = objectField(result, 'outcome');
  const optionId = outcome === null ? null : nameField(outcome, 'optionId');
  const chosen = options.find(({ id }) => id === optionId);
  const meta = objectField(objectField(result, '_meta') ?? {}, 'sluice') ?? {};
  const who = nameField(meta, 'who');
  const why = nameField(meta, 'why');
  return {
    decision: chosen?.kind.startsWith('allow') === true ? 'allow' : 'deny',
    optionId: chosen?.id ?? 'cancelled',
    by: field(meta, 'by') === 'rule' ? 'rule' : 'person',
    ...(who === null ? undefined : { who }),
    ...(why === null ? undefined : { why }),
  };
}
