import { getArray, getField, isRecord, getName, getObject, getString } from '../../reading/record-fields.js';
import type { PermissionAnswer, PermissionOption, PermissionRequest } from '../fact.js';
import { readCall } from './acp-tool-call.js';
import type { RpcMessage } from '../json-rpc.js';
import { getResultFields } from '../json-rpc.js';

/** The method an agent calls to request permission. */
export const PERMISSION_METHOD = 'session/request_permission';

/** Limit on options per request; users cannot choose among more. */
const MAX_OPTIONS = 32;

const KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** Reads a `session/request_permission`; null if it does not name its tool call. */
export function readPermissionRequest(params: object): PermissionRequest | null {
  const call = getObject(params, 'toolCall');
  const id = call === null ? null : getName(call, 'toolCallId');
  if (call === null || id === null) return null;
  const title = getName(call, 'title');
  return {
    call: readCall(id, call),
    // Gemini CLI sends no input, so the decision depends on the title alone.
    ...(title === null ? undefined : { title }),
    options: getArray(params, 'options').slice(0, MAX_OPTIONS).filter(isRecord).flatMap(readOption),
  };
}

function readOption(option: object): PermissionOption[] {
  const id = getName(option, 'optionId');
  const kind = KINDS.find((name) => name === getField(option, 'kind'));
  if (id === null || kind === undefined) return [];
  return [{ id, label: getString(option, 'name') ?? id, kind }];
}

/**
 * Converts the answer to a permission request to `permission.replied` data. An answer without a valid choice counts as
 * a denial.
 */
export function readPermissionAnswer(
  message: Extract<RpcMessage, { kind: 'result' | 'error' }>,
  options: readonly PermissionOption[],
): PermissionAnswer {
  const result = message.kind === 'result' ? getResultFields(message.result) : {};
  const outcome = getObject(result, 'outcome');
  const optionId = outcome === null ? null : getName(outcome, 'optionId');
  const chosenOption = options.find(({ id }) => id === optionId);
  const meta = getObject(getObject(result, '_meta') ?? {}, 'sluice') ?? {};
  const who = getName(meta, 'who');
  const why = getName(meta, 'why');
  return {
    decision: chosenOption?.kind.startsWith('allow') === true ? 'allow' : 'deny',
    optionId: chosenOption?.id ?? 'cancelled',
    by: getField(meta, 'by') === 'rule' ? 'rule' : 'person',
    ...(who === null ? undefined : { who }),
    ...(why === null ? undefined : { why }),
  };
}
