import type { FileDiff } from '../../protocol/event-parts.js';
import { getArray, getField, isRecord, getName, getObject, getString } from '../../reading/record-fields.js';
import type { PermissionAnswer, PermissionOption, PermissionQuestion, Report } from '../report.js';

/*
 * The control records of `--input-format stream-json`: requests and responses of both sides between the records of the
 * conversation.
 */

/** A request of one side. */
export interface ControlRequest {
  readonly id: string;
  readonly subtype: string;
  readonly request: object;
}

/** A `control_request`; null for every other record, and for one without an id. */
export function readControlRequest(record: object): ControlRequest | null {
  if (getString(record, 'type') !== 'control_request') return null;
  const id = readId(record);
  const request = getObject(record, 'request');
  const subtype = request === null ? null : getName(request, 'subtype');
  return id === null || request === null || subtype === null ? null : { id, subtype, request };
}

/** The response to a request. */
export interface ControlResponse {
  readonly id: string;
  /** Null where the request was refused. */
  readonly response: object | null;
  readonly error: string | null;
}

/** A `control_response`; null for every other record. */
export function readControlResponse(record: object): ControlResponse | null {
  if (getString(record, 'type') !== 'control_response') return null;
  const response = getObject(record, 'response');
  const id = response === null ? null : readId(response);
  if (response === null || id === null) return null;
  if (getString(response, 'subtype') === 'success')
    return { id, response: getObject(response, 'response') ?? {}, error: null };
  return { id, response: null, error: getString(response, 'error') ?? 'refused' };
}

/** The request that a `control_cancel_request` withdraws; null for every other record. */
export function readWithdrawal(record: object): string | null {
  return getString(record, 'type') === 'control_cancel_request' ? readId(record) : null;
}

/** Longer ids are refused. */
const MAX_ID = 200;

function readId(record: object): string | null {
  const id = getName(record, 'request_id');
  return id === null || id.length > MAX_ID ? null : id;
}

/** The programs offer no choice by themselves. */
const OPTIONS: readonly PermissionOption[] = [
  { id: 'allow', label: 'Allow', kind: 'allow_once' },
  { id: 'deny', label: 'Deny', kind: 'reject_once' },
];

/** Reads a `can_use_tool` request; null if it does not name the tool. */
export function readToolQuestion({ id, subtype, request }: ControlRequest): PermissionQuestion | null {
  const name = getName(request, 'tool_name');
  if (subtype !== 'can_use_tool' || name === null) return null;
  const input = getObject(request, 'input') ?? {};
  const diff = readEdit(input);
  const title = getName(request, 'description');
  return {
    call: {
      id: getName(request, 'tool_use_id') ?? id,
      name,
      input,
      ...(diff.length === 0 ? undefined : { diff }),
    },
    ...(title === null ? undefined : { title }),
    options: OPTIONS,
  };
}

/** Reads the change a call would make: tools that write have a file and its text, tools that edit have both texts. */
function readEdit(input: object): readonly FileDiff[] {
  const path = getName(input, 'file_path') ?? getName(input, 'notebook_path');
  if (path === null) return [];
  const edits = getArray(input, 'edits').filter(isRecord);
  return [input, ...edits].flatMap((edit): FileDiff[] => {
    const newText = getString(edit, 'new_string') ?? getString(edit, 'content') ?? getString(edit, 'new_source');
    if (newText === null) return [];
    const oldText = getString(edit, 'old_string');
    return [{ path, ...(oldText === null ? undefined : { old_text: oldText }), new_text: newText }];
  });
}

/** Reads the answer as data of `permission.replied`. Anything but a plain approval denies. */
function readToolAnswer({ response }: ControlResponse): PermissionAnswer {
  const answer = response ?? {};
  const about = getObject(answer, 'sluice') ?? {};
  const isAllowed = getString(answer, 'behavior') === 'allow';
  const who = getName(about, 'who');
  const why = getName(about, 'why');
  return {
    decision: isAllowed ? 'allow' : 'deny',
    optionId: isAllowed ? 'allow' : 'deny',
    by: getField(about, 'by') === 'rule' ? 'rule' : 'person',
    ...(who === null ? undefined : { who }),
    ...(why === null ? undefined : { why }),
  };
}

/** Fields of a question that events are made from. */
const USED_FIELDS: ReadonlySet<string> = new Set(['subtype', 'tool_name', 'tool_use_id', 'input']);

/** Requests that may be open at once; a hostile agent could ask without end. */
const MAX_OPEN = 1024;

/** Reads the control records of both directions. */
export class ControlRecords {
  readonly #report: Report;
  /** The question behind each open request of the agent. */
  readonly #asked = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** A control record that the agent printed; false if it is not one. */
  readPrinted(record: object): boolean {
    const report = this.#report;
    const request = readControlRequest(record);
    const question = request === null ? null : readToolQuestion(request);
    if (request !== null && question !== null) {
      report.keepRest(request.request, USED_FIELDS, 'request');
      // Carries what else the request says.
      report.status({ status: request.subtype });
      if (this.#asked.has(request.id)) {
        const message = `The agent used the id ${JSON.stringify(request.id)} for another request while the first is open.`;
        report.warning('MALFORMED_RECORD', message, { subject: request.id });
      }
      this.#asked.set(request.id, report.permissionRequired(question));
      const [oldest] = this.#asked.keys();
      if (oldest !== undefined && this.#asked.size > MAX_OPEN) this.#asked.delete(oldest);
      return true;
    }
    if (request !== null) {
      report.status({ status: `control_request ${request.subtype}`, detail: request.request });
      return true;
    }
    const withdrawn = readWithdrawal(record);
    const interaction = withdrawn === null ? undefined : this.#asked.get(withdrawn);
    if (withdrawn === null || interaction === undefined) return false;
    this.#asked.delete(withdrawn);
    const why = 'The agent withdrew its question.';
    report.permissionReplied(interaction, { decision: 'deny', optionId: 'deny', by: 'rule', why });
    return true;
  }

  /** A record that was sent to the agent. */
  readSent(record: object): void {
    const report = this.#report;
    const response = readControlResponse(record);
    const interaction = response === null ? undefined : this.#asked.get(response.id);
    if (response !== null && interaction !== undefined) {
      this.#asked.delete(response.id);
      return report.permissionReplied(interaction, readToolAnswer(response));
    }
    const request = readControlRequest(record);
    if (getString(record, 'type') === 'user') return report.status({ status: 'prompt' });
    if (request !== null && request.subtype !== 'initialize') return report.status({ status: request.subtype });
    report.noise();
  }
}
