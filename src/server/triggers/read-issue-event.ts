import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The forges whose webhooks are supported. */
export type TriggerType = 'github' | 'gitlab';

/** An issue that was given the label that starts work. */
export interface LabeledIssue {
  /** `owner/repo`, or `group/project`. */
  readonly repository: string;
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  /** The user who added the label. */
  readonly sender: string;
}

/** Reads a header by its lower-case name. */
export type ReadHeader = (name: string) => string | undefined;

/** Whether the sender of a delivery knows the secret: GitHub signs the body with it, GitLab sends it. */
export function isAuthentic(type: TriggerType, secret: string, body: Uint8Array, header: ReadHeader): boolean {
  switch (type) {
    case 'github': {
      const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      return isSame(header('x-hub-signature-256') ?? '', expected);
    }
    case 'gitlab':
      return isSame(header('x-gitlab-token') ?? '', secret);
  }
}

/** Compares in constant time. */
function isSame(actual: string, expected: string): boolean {
  return timingSafeEqual(hash(actual), hash(expected));
}

function hash(word: string): Buffer {
  return createHash('sha256').update(word).digest();
}

const DELIVERY_ID = /^[\w-]{8,100}$/;

/**
 * Returns a delivery's id: the forge's id or, if missing, the hash of the body. A repeated delivery has the same id.
 */
export function readDeliveryId(type: TriggerType, body: Uint8Array, header: ReadHeader): string {
  const deliveryId =
    type === 'github' ? header('x-github-delivery') : (header('idempotency-key') ?? header('x-gitlab-event-uuid'));
  return deliveryId !== undefined && DELIVERY_ID.test(deliveryId)
    ? deliveryId
    : createHash('sha256').update(body).digest('hex');
}

/** Reads the issue that an event added the label to. For any other event, returns the reason why it is ignored. */
export function readIssueEvent(
  type: TriggerType,
  label: string,
  payload: unknown,
  header: ReadHeader,
): LabeledIssue | { readonly ignored: string } {
  return type === 'github' ? readGitHub(label, payload, header) : readGitLab(label, payload);
}

function readGitHub(label: string, payload: unknown, header: ReadHeader): LabeledIssue | { readonly ignored: string } {
  if (header('x-github-event') !== 'issues') return { ignored: 'not an issue event' };
  const addedLabel = readText(payload, 'action') === 'labeled' ? readText(readField(payload, 'label'), 'name') : '';
  if (addedLabel !== label) return { ignored: 'the label was not added' };
  const issue = readField(payload, 'issue');
  return {
    repository: readText(readField(payload, 'repository'), 'full_name'),
    number: readInteger(issue, 'number'),
    title: readText(issue, 'title'),
    body: readText(issue, 'body'),
    url: readText(issue, 'html_url'),
    sender: readText(readField(payload, 'sender'), 'login'),
  };
}

function readGitLab(label: string, payload: unknown): LabeledIssue | { readonly ignored: string } {
  if (readText(payload, 'object_kind') !== 'issue') return { ignored: 'not an issue event' };
  const issue = readField(payload, 'object_attributes');
  const action = readText(issue, 'action');
  const labelChanges = readField(readField(payload, 'changes'), 'labels');
  const isAdded =
    hasLabel(readField(labelChanges, 'current'), label) && !hasLabel(readField(labelChanges, 'previous'), label);
  const isNew = action === 'open' && hasLabel(readField(payload, 'labels'), label);
  if (!isNew && !(action === 'update' && isAdded)) return { ignored: 'the label was not added' };
  return {
    repository: readText(readField(payload, 'project'), 'path_with_namespace'),
    number: readInteger(issue, 'iid'),
    title: readText(issue, 'title'),
    body: readText(issue, 'description'),
    url: readText(issue, 'url'),
    sender: readText(readField(payload, 'user'), 'username'),
  };
}

function hasLabel(labels: unknown, label: string): boolean {
  return Array.isArray(labels) && labels.some((each) => readText(each, 'title') === label);
}

function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (Reflect.get(value, name) as unknown)
    : undefined;
}

function readText(value: unknown, name: string): string {
  const field = readField(value, name);
  return typeof field === 'string' ? field : '';
}

function readInteger(value: unknown, name: string): number {
  const field = readField(value, name);
  return Number.isSafeInteger(field) ? Number(field) : 0;
}
