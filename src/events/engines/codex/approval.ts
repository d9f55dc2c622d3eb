import { getArray, getField, getName, getObject } from '../../reading/record-fields.js';
import { resultFields } from '../json-rpc.js';
import type { RpcMessage } from '../json-rpc.js';
import type { PermissionAnswer, PermissionOption, PermissionQuestion, ToolReport } from '../report.js';
import { readShellScript } from './shell-script.js';

/** The requests with which `codex app-server` asks for a permission, and the tool each is about. */
const APPROVALS: ReadonlyMap<string, string> = new Map([
  ['item/commandExecution/requestApproval', 'command_execution'],
  ['item/fileChange/requestApproval', 'file_change'],
]);

/** Whether a request of Codex asks for a permission. */
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

/** Reads an approval request of Codex; null if it does not name its item. `item` is what is already known of the item. */
export function readApproval(method: string, params: object, item: ToolReport | null): PermissionQuestion | null {
  const id = getName(params, 'itemId');
  const name = APPROVALS.get(method);
  if (id === null || name === undefined) return null;
  const command = getName(params, 'command');
  const reason = getName(params, 'reason');
  const root = getName(params, 'grantRoot');
  const input =
    command === null
      ? (item?.input ?? (root === null ? {} : { grant_root: root }))
      : { command: readShellScript(command), ...(reason === null ? undefined : { reason }) };
  const isForSession = getArray(params, 'availableDecisions').includes(ACCEPT_FOR_SESSION.id);
  return {
    call: {
      id,
      name: item?.name ?? name,
      input,
      ...(item?.diff === undefined ? undefined : { diff: item.diff }),
      ...(item?.paths === undefined ? undefined : { paths: item.paths }),
    },
    ...(reason === null ? undefined : { title: reason }),
    options: isForSession ? [ACCEPT, ACCEPT_FOR_SESSION, DECLINE] : [ACCEPT, DECLINE],
  };
}

/** Reads the answer as data of `permission.replied`. Anything but a plain approval denies. */
export function readApprovalAnswer(message: Extract<RpcMessage, { kind: 'result' | 'error' }>): PermissionAnswer {
  const result = message.kind === 'result' ? resultFields(message.result) : {};
  const decision = getName(result, 'decision');
  const isAllowed = decision === ACCEPT.id || decision === ACCEPT_FOR_SESSION.id;
  const about = getObject(getObject(result, '_meta') ?? {}, 'sluice') ?? {};
  const who = getName(about, 'who');
  const why = getName(about, 'why');
  return {
    decision: isAllowed ? 'allow' : 'deny',
    optionId: decision ?? DECLINE.id,
    by: getField(about, 'by') === 'rule' ? 'rule' : 'person',
    ...(who === null ? undefined : { who }),
    ...(why === null ? undefined : { why }),
  };
}
