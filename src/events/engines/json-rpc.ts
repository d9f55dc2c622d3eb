import { get, isRecord, omitMissing } from '../reading/record-fields.js';
import type { Emit, PermissionAnswer } from './fact.js';

export type RpcId = string | number;

export type RpcResponse = Extract<RpcMessage, { kind: 'result' | 'error' }>;

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: object }
  | { readonly kind: 'notification'; readonly method: string; readonly params: object }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId | null; readonly error: object };

const NO_FIELDS = {};

/** Reads a JSON value as a JSON-RPC message; null if it is not one. `jsonrpc` is not required: some agents omit it. */
export function readRpcMessage(value: object): RpcMessage | null {
  const id = readId(value);
  const method = get.name(value, 'method');
  if (method !== null) {
    const params = get.object(value, 'params') ?? NO_FIELDS;
    if (id !== null) return { kind: 'request', id, method, params };
    return 'id' in value ? null : { kind: 'notification', method, params };
  }
  const error = get.object(value, 'error');
  if (error !== null) return { kind: 'error', id, error };
  return id !== null && 'result' in value ? { kind: 'result', id, result: get.field(value, 'result') } : null;
}

/** Returns the result as an object, or an empty object if the agent responded with null. */
export function getResultFields(result: unknown): object {
  return isRecord(result) ? result : NO_FIELDS;
}

/** Reads who answered a permission request, and why, from the object that contains the answer's `sluice`. */
export function readAuthor(container: object | null): Pick<PermissionAnswer, 'by' | 'who' | 'why'> {
  const author = get.object(container, 'sluice');
  const by = get.field(author, 'by') === 'rule' ? 'rule' : 'person';
  return { by, ...omitMissing({ who: get.name(author, 'who'), why: get.name(author, 'why') }) };
}

/** Limit on open requests per side; a malicious agent could send them endlessly. */
export const MAX_OPEN_REQUESTS = 1024;

/** Warns about a request with the id of another one that is still open. */
export function warnReusedId(id: RpcId, emit: Emit): void {
  const message = `The agent used the id ${JSON.stringify(id)} for another request before the first was answered.`;
  emit({ fact: 'warning', code: 'MALFORMED_RECORD', message, subject: String(id) });
}

/** Denies a permission request that the agent withdrew. */
export function denyWithdrawn(request: RpcId, optionId: string, emit: Emit): void {
  const why = 'The agent withdrew its permission request.';
  emit({ fact: 'permission_replied', request, decision: 'deny', optionId, by: 'rule', why });
}

/** Longer ids are refused. */
const MAX_ID = 200;

function readId(value: object): RpcId | null {
  const id = get.field(value, 'id');
  if (typeof id === 'string') return id.length > MAX_ID ? null : id;
  return typeof id === 'number' && Number.isFinite(id) ? id : null;
}
