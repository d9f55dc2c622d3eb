import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The forges whose webhooks are understood. */
export type TriggerType = 'github' | 'gitlab';

/** An issue that got the label that starts work. */
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

/** Reads a header by its name in lower case. */
export type ReadHeader = (name: string) => string | undefined;

/** Whether a delivery was signed with the secret. */
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
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(hash(given), hash(expected));
}

function hash(word: string): Buffer {
  return createHash('sha256').update(word).digest();
}

const DELIVERY = /^[\w-]{8,100}$/;

/** Identifies a delivery, the same for every repeat: the id of the forge, else the hash of its body. */
export function readDelivery(type: TriggerType, body: Uint8Array, header: ReadHeader): string {
  const given =
    type === 'github' ? header('x-github-delivery') : (header('idempotency-key') ?? header('x-gitlab-event-uuid'));
  return given !== undefined && DELIVERY.test(given) ? given : createHash('sha256').update(body).digest('hex');
}

/** The issue that got a label with this event; a reason where the event is about something else. */
export function readIssueEvent(
  type: TriggerType,
  label: string,
  payload: unknown,
  header: ReadHeader,
): LabeledIssue | { readonly ignored: string } {
  return type === 'github' ? readGitHub(label, payload, header) : readGitLab(label, payload);
}

function readGitHub(label: string, payload: unknown, header: ReadHeader): LabeledIssue | { readonly ignored: string } {
  if (header('x-github-event') !== 'issues') return { ignored: 'not an event of an issue' };
  const added = text(payload, 'action') === 'labeled' ? text(part(payload, 'label'), 'name') : '';
  if (added !== label) return { ignored: 'the label was not added' };
  const issue = part(payload, 'issue');
  return {
    repository: text(part(payload, 'repository'), 'full_name'),
    number: integer(issue, 'number'),
    title: text(issue, 'title'),
    body: text(issue, 'body'),
    url: text(issue, 'html_url'),
    sender: text(part(payload, 'sender'), 'login'),
  };
}

function readGitLab(label: string, payload: unknown): LabeledIssue | { readonly ignored: string } {
  if (text(payload, 'object_kind') !== 'issue') return { ignored: 'not an event of an issue' };
  const issue = part(payload, 'object_attributes');
  const action = text(issue, 'action');
  const changed = part(part(payload, 'changes'), 'labels');
  const isAdded = hasLabel(part(changed, 'current'), label) && !hasLabel(part(changed, 'previous'), label);
  const isNew = action === 'open' && hasLabel(part(payload, 'labels'), label);
  if (!isNew && !(action === 'update' && isAdded)) return { ignored: 'the label was not added' };
  return {
    repository: text(part(payload, 'project'), 'path_with_namespace'),
    number: integer(issue, 'iid'),
    title: text(issue, 'title'),
    body: text(issue, 'description'),
    url: text(issue, 'url'),
    sender: text(part(payload, 'user'), 'username'),
  };
}

function hasLabel(labels: unknown, label: string): boolean {
  return Array.isArray(labels) && labels.some((one) => text(one, 'title') === label);
}

function part(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (Reflect.get(value, name) as unknown)
    : undefined;
}

function text(value: unknown, name: string): string {
  const found = part(value, name);
  return typeof found === 'string' ? found : '';
}

function integer(value: unknown, name: string): number {
  const found = part(value, name);
  return Number.isSafeInteger(found) ? Number(found) : 0;
}
