import { get } from '../../reading/record-fields.js';
import { getResultFields, readAuthor } from '../json-rpc.js';
import type { RpcResponse } from '../json-rpc.js';
import type { PermissionAnswer, PermissionOption, PermissionRequest, ToolCall } from '../fact.js';

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

/** `/bin/bash -lc`, the shell that Codex uses to run every command of its model. */
const SHELL = /^(?:\/usr)?(?:\/local)?(?:\/bin\/)?(?:ba|z|da)?sh -l?c /u;

/** Characters that a backslash escapes between double quotes. */
const ESCAPED: ReadonlySet<string> = new Set(['"', '\\', '$', '`']);

/**
 * Returns the script that a command line passes to a shell; any other line is returned unchanged. Permission rules match the
 * command that the model wants to run, not the shell around it.
 *
 * @example
 * readShellScript(`/bin/bash -lc "npm test"`) // 'npm test'
 */
export function readShellScript(line: string): string {
  const shell = SHELL.exec(line)?.[0];
  return shell === undefined ? line : (unquoteWord(line.slice(shell.length)) ?? line);
}

/** Returns a word without its quotes; null if there is more than one word, or a quote is left unclosed. */
function unquoteWord(source: string): string | null {
  let word = '';
  let quote = '';
  for (let at = 0; at < source.length; at += 1) {
    const char = source.charAt(at);
    const next = source.charAt(at + 1);
    if (quote === '' && (char === "'" || char === '"')) quote = char;
    else if (char === quote) quote = '';
    else if (char === '\\' && quote !== "'") {
      if (next === '') return null;
      if (quote === '' || ESCAPED.has(next)) at += 1;
      word += quote === '' || ESCAPED.has(next) ? next : char;
    } else if (quote === '' && !/[\w@%+=:,./-]/u.test(char)) return null;
    else word += char;
  }
  return quote === '' && source !== '' ? word : null;
}
