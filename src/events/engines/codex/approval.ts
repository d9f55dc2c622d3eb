import { get } from '../../reading/record-fields.js';
import { getResultFields, readAuthor } from '../json-rpc.js';
import type { RpcResponse } from '../json-rpc.js';
import type { PermissionAnswer, PermissionOption, PermissionRequest, ToolCall } from '../fact.js';
import { readShellScript } from './shell-script.js';

/** The methods `codex app-server` calls to request permission, with the tool for each. */
const APPROVALS: ReadonlyMap<string, string> = new Map([
  ['item/commandExecution/requestApproval', 'command_execution'],
  ['item/fileChange/requestApproval', 'file_change'],
]);

export function isApproval(method: string): boolean {
  return APPROVALS.has(method);
}

const ACCEPT: PermissionOption = { id: 'accept', label: 'Allow', kind: 'allow_once' };
const ACCEPT_FOR_SESSION: PermissionOption = {
  id: 'acceptForSession',
  label: 'Allow for this session',
  kind: 'allow_always',
};
const DECLINE: PermissionOption = { id: 'decline', label: 'Deny', kind: 'reject_once' };

/** Reads a Codex approval request; null if it does not name its item. `item` has the details from earlier messages. */
export function readApproval(method: string, params: object, item: ToolCall | null): PermissionRequest | null {
  const id = get.name(params, 'itemId');
  const name = APPROVALS.get(method);
  if (id === null || name === undefined) return null;
  const command = get.name(params, 'command');
  const reason = get.name(params, 'reason');
  const root = get.name(params, 'grantRoot');
  const input =
    command === null
      ? (item?.input ?? (root === null ? {} : { grant_root: root }))
      : { command: readShellScript(command), ...(reason === null ? undefined : { reason }) };
  const canAllowForSession = get.array(params, 'availableDecisions').includes(ACCEPT_FOR_SESSION.id);
  return {
    call: {
      id,
      name: item?.name ?? name,
      input,
      ...(item?.diff === undefined ? undefined : { diff: item.diff }),
      ...(item?.paths === undefined ? undefined : { paths: item.paths }),
    },
    ...(reason === null ? undefined : { title: reason }),
    options: canAllowForSession ? [ACCEPT, ACCEPT_FOR_SESSION, DECLINE] : [ACCEPT, DECLINE],
  };
}

/** Converts the answer to `permission.replied` data. Anything but an explicit approval counts as a denial. */
export function readApprovalAnswer(message: RpcResponse): PermissionAnswer {
  const result = message.kind === 'result' ? getResultFields(message.result) : {};
  const decision = get.name(result, 'decision');
  const isAllowed = decision === ACCEPT.id || decision === ACCEPT_FOR_SESSION.id;
  return {
    decision: isAllowed ? 'allow' : 'deny',
    optionId: decision ?? DECLINE.id,
    ...readAuthor(get.object(result, '_meta')),
  };
}
