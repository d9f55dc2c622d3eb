import type { FileDiff } from '../../protocol/event-parts.js';
import { BoundedSet } from '../../reading/bounded-map.js';
import { get } from '../../reading/record-fields.js';
import { denyWithdrawn, MAX_OPEN_REQUESTS, readAuthor, warnReusedId } from '../json-rpc.js';
import { joinText } from './read-message.js';
import type { PermissionAnswer, PermissionOption, PermissionRequest, Emit } from '../fact.js';

/*
 * The control records of `--input-format stream-json`: requests and responses from both sides, interleaved with the
 * conversation's records.
 */

export type ControlRequest = NonNullable<ReturnType<typeof readControlRequest>>;

/** Reads a `control_request`; null for any other record, or if it has no id. */
export function readControlRequest(record: object) {
  if (get.string(record, 'type') !== 'control_request') return null;
  const id = readId(record);
  const request = get.object(record, 'request');
  const subtype = get.name(request, 'subtype');
  return id === null || request === null || subtype === null ? null : { id, subtype, request };
}

/** Reads a `control_response`, which has no response if the request was refused; null for any other record. */
export function readControlResponse(record: object) {
  if (get.string(record, 'type') !== 'control_response') return null;
  const response = get.object(record, 'response');
  const id = response === null ? null : readId(response);
  if (response === null || id === null) return null;
  if (get.string(response, 'subtype') === 'success')
    return { id, response: get.object(response, 'response') ?? {}, error: null };
  return { id, response: null, error: get.string(response, 'error') ?? 'refused' };
}

/** Returns the id of the request that a `control_cancel_request` withdraws; null for any other record. */
export function readWithdrawal(record: object): string | null {
  return get.string(record, 'type') === 'control_cancel_request' ? readId(record) : null;
}

/** Longer ids are refused. */
const MAX_ID = 200;

function readId(record: object): string | null {
  const id = get.name(record, 'request_id');
  return id === null || id.length > MAX_ID ? null : id;
}

/** The options offered for every request, since the protocol does not define any. */
const OPTIONS: readonly PermissionOption[] = [
  { id: 'allow', label: 'Allow', kind: 'allow_once' },
  { id: 'deny', label: 'Deny', kind: 'reject_once' },
];

/** Reads a `can_use_tool` request; null if it does not name the tool. */
export function readToolPermissionRequest({ id, subtype, request }: ControlRequest): PermissionRequest | null {
  const name = get.name(request, 'tool_name');
  if (subtype !== 'can_use_tool' || name === null) return null;
  const input = get.object(request, 'input') ?? {};
  const diff = readEdit(input);
  const title = get.name(request, 'description');
  return {
    call: { id: get.name(request, 'tool_use_id') ?? id, name, input, ...(diff.length === 0 ? undefined : { diff }) },
    ...(title === null ? undefined : { title }),
    options: OPTIONS,
  };
}

/** Reads the change that a call would make: write tools have new content, edit tools old and new. */
function readEdit(input: object): readonly FileDiff[] {
  const path = get.name(input, 'file_path') ?? get.name(input, 'notebook_path');
  if (path === null) return [];
  const edits = get.records(input, 'edits');
  return [input, ...edits].flatMap((edit): FileDiff[] => {
    const newText = get.string(edit, 'new_string') ?? get.string(edit, 'content') ?? get.string(edit, 'new_source');
    if (newText === null) return [];
    const oldText = get.string(edit, 'old_string');
    return [{ path, ...(oldText === null ? undefined : { old_text: oldText }), new_text: newText }];
  });
}

/** Converts the answer to `permission.replied` data. Anything but an explicit approval counts as a denial. */
function readToolAnswer(response: object | null): PermissionAnswer {
  const decision = get.string(response, 'behavior') === 'allow' ? 'allow' : 'deny';
  return { decision, optionId: decision, ...readAuthor(response) };
}

/** Fields of a permission request that are already in its event. */
const USED_FIELDS: ReadonlySet<string> = new Set(['subtype', 'tool_name', 'tool_use_id', 'input']);

export class ControlRecords {
  readonly #emit: Emit;
  /** The agent's permission requests that are still unanswered. */
  readonly #open = new BoundedSet<string>(MAX_OPEN_REQUESTS);

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Reads a record that the agent printed; false if it is not a control record. */
  readPrinted(record: object): boolean {
    const emit = this.#emit;
    const request = readControlRequest(record);
    const question = request === null ? null : readToolPermissionRequest(request);
    if (request !== null) emit({ fact: 'record', record, isWhole: true });
    if (request !== null && question !== null) {
      emit({ fact: 'record', record: request.request, used: USED_FIELDS, path: 'request' });
      // The request's other fields become this event's detail.
      emit({ fact: 'status', status: request.subtype });
      if (this.#open.has(request.id)) warnReusedId(request.id, emit);
      emit({ fact: 'permission_required', request: request.id, ...question });
      this.#open.add(request.id);
      return true;
    }
    if (request !== null) {
      emit({ fact: 'status', status: `control_request ${request.subtype}`, detail: request.request });
      return true;
    }
    const withdrawnId = readWithdrawal(record);
    if (withdrawnId === null || !this.#open.delete(withdrawnId)) return false;
    denyWithdrawn(withdrawnId, 'deny', emit);
    return true;
  }

  readSent(record: object): void {
    const emit = this.#emit;
    const response = readControlResponse(record);
    if (response !== null && this.#open.delete(response.id))
      return emit({ fact: 'permission_replied', request: response.id, ...readToolAnswer(response.response) });
    const request = readControlRequest(record);
    if (get.string(record, 'type') === 'user') {
      const message = joinText(get.field(get.object(record, 'message'), 'content'));
      return emit({ fact: 'status', status: 'prompt', ...(message === '' ? undefined : { message }) });
    }
    if (request !== null && request.subtype !== 'initialize') return emit({ fact: 'status', status: request.subtype });
    emit({ fact: 'noise' });
  }
}
