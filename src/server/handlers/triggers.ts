import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { cutText, isSluiceError, omitUndefined } from '../../base/index.js';
import { getMember } from '../config/index.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import { createRateLimit } from '../security/rate-limit.js';
import type { ServerContext } from '../server-context.js';
import type { TriggerSettings } from '../server-settings.js';
import { listSchedules, runSchedule, type Schedule } from '../../orders/dispatch/index.js';
import type { ScheduleView } from '../../store/records/index.js';

const PER_MINUTE = 30;

/** An issue's title and body become instructions, and the instructions of an order may have 30,000 characters. */
const TITLE_LENGTH = 500;
const BODY_LENGTH = 20_000;

const INSTRUCTIONS = 'Resolve issue {ref}: {title}\n\n{body}';

export function createTriggerHandlers(server: ServerContext): Pick<Handlers, 'receiveTrigger'> {
  const { store, lead, settings, logger, clock } = server;
  const limits = new Map(
    Object.entries(settings.triggers).map(([name, { per_minute: perMinute = PER_MINUTE }]) => [
      name,
      createRateLimit({ perMinute, clock }),
    ]),
  );
  return {
    async receiveTrigger({ params, body, bytes, context }) {
      server.checkAcceptsWork();
      const { name } = params;
      const trigger = Object.hasOwn(settings.triggers, name) ? settings.triggers[name] : undefined;
      const header = (word: string): string | undefined => context.req.header(word);
      const { secret = '' } = trigger ?? {};
      // The same message for an unknown trigger and a wrong signature, so callers cannot find out which triggers exist.
      if (trigger === undefined || secret === '' || !FORGES[trigger.type].isAuthentic(secret, bytes, header)) {
        throw new RequestError(
          'SIGNATURE_REFUSED',
          'No trigger with this name accepts the signature. Check the URL, the webhook secret, and "triggers" in the configuration.',
        );
      }
      if (limits.get(name)?.take(name) === false)
        throw new RequestError('TOO_MANY_REQUESTS', 'Too many deliveries to this trigger. Try again in a minute.');
      const forge = FORGES[trigger.type];
      const event = forge.readEvent(trigger.label, body, header);
      const reason = 'ignored' in event ? event.ignored : findReasonToIgnore(trigger, event);
      if ('ignored' in event || reason !== undefined) return { status: 'ignored', ...omitUndefined({ reason }) };
      const caller = `trigger:${name}`;
      const request_id = `${caller}:${readDeliveryId(forge, bytes, header)}`;
      try {
        const { record, repeated } = await lead.submit(
          { ...createRequest(trigger, event), request_id },
          { by: caller, beforeQueued: async (run) => store.recordRequest({ ...run, caller, now: clock() }) },
        );
        const { issue_ref, run_id } = record.order;
        if (!repeated) logger.info('trigger fired', { trigger: name, issue_ref, run_id, sender: event.sender });
        return { status: 'submitted', issue_ref, run_id, repeated };
      } catch (error) {
        // The delivery was repeated after the issue was edited. The issue already has an order.
        if (isSluiceError(error) && error.code === 'REQUEST_ID_REUSED')
          return { status: 'ignored', reason: 'repeated' };
        throw error;
      }
    },
  };
}

/** Returns the reason why an authentic event does not start an order; undefined if it does. */
function findReasonToIgnore({ repositories, senders }: TriggerSettings, event: LabeledIssue): string | undefined {
  if (!Object.hasOwn(repositories, event.repository)) return 'the repository is not configured';
  if (senders !== undefined && !senders.includes(event.sender)) return 'the sender is not allowed to start work';
  return undefined;
}

/**
 * Creates the request for an order. Everything except the title and body comes from the configuration: an issue cannot
 * choose the wrapper or the folder.
 */
function createRequest(trigger: TriggerSettings, { repository, number, title, body, url }: LabeledIssue): object {
  const issue_ref = `${repository}#${number}`;
  const { instructions = INSTRUCTIONS, ...fields } = trigger.request;
  const values: Readonly<Record<string, string>> = {
    ref: issue_ref,
    title: cutText(title, TITLE_LENGTH),
    body: cutText(body, BODY_LENGTH),
    url: url.slice(0, TITLE_LENGTH),
  };
  // Replaces all placeholders in one pass, so placeholders in an issue's text are left alone.
  const text = instructions
    .replaceAll(/\{(ref|title|body|url)\}/g, (_, word: string) => values[word] ?? '')
    .replaceAll('\0', '\u{FFFD}');
  return { ...fields, ...trigger.repositories[repository], issue_ref, instructions: text };
}

interface LabeledIssue {
  /** `owner/repo`, or `group/project`. */
  readonly repository: string;
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly sender: string;
}

/** Reads a header by its lower-case name. */
type ReadHeader = (name: string) => string | undefined;

interface Forge {
  /** Whether the sender of a delivery knows the secret: GitHub signs the body with it, GitLab sends it. */
  readonly isAuthentic: (secret: string, body: Uint8Array, header: ReadHeader) => boolean;
  /** The headers with the id of a delivery; a repeated delivery has the same id. */
  readonly deliveryHeaders: readonly string[];
  /** Reads the issue that an event added the label to. For any other event, returns the reason why it is ignored. */
  readonly readEvent: (
    label: string,
    payload: unknown,
    header: ReadHeader,
  ) => LabeledIssue | { readonly ignored: string };
}

const FORGES: Readonly<Record<TriggerSettings['type'], Forge>> = {
  github: {
    isAuthentic: (secret, body, header) =>
      isSame(header('x-hub-signature-256') ?? '', `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
    deliveryHeaders: ['x-github-delivery'],
    readEvent: readGitHub,
  },
  gitlab: {
    isAuthentic: (secret, _, header) => isSame(header('x-gitlab-token') ?? '', secret),
    deliveryHeaders: ['idempotency-key', 'x-gitlab-event-uuid'],
    readEvent: readGitLab,
  },
};

/** Compares in constant time. */
function isSame(actual: string, expected: string): boolean {
  return timingSafeEqual(hash(actual), hash(expected));
}

function hash(text: string | Uint8Array): Buffer {
  return createHash('sha256').update(text).digest();
}

const DELIVERY_ID = /^[\w-]{8,100}$/;

/** Returns a delivery's id: the forge's id or, if missing, the hash of the body. */
function readDeliveryId({ deliveryHeaders }: Forge, body: Uint8Array, header: ReadHeader): string {
  const id = deliveryHeaders.map(header).find((sent) => sent !== undefined) ?? '';
  return DELIVERY_ID.test(id) ? id : hash(body).toString('hex');
}

function readGitHub(label: string, payload: unknown, header: ReadHeader) {
  if (header('x-github-event') !== 'issues') return { ignored: 'not an issue event' };
  const addedLabel = readText(payload, 'action') === 'labeled' ? readText(getMember(payload, 'label'), 'name') : '';
  if (addedLabel !== label) return { ignored: 'the label was not added' };
  const issue = getMember(payload, 'issue');
  return {
    repository: readText(getMember(payload, 'repository'), 'full_name'),
    number: readInteger(issue, 'number'),
    title: readText(issue, 'title'),
    body: readText(issue, 'body'),
    url: readText(issue, 'html_url'),
    sender: readText(getMember(payload, 'sender'), 'login'),
  };
}

function readGitLab(label: string, payload: unknown) {
  if (readText(payload, 'object_kind') !== 'issue') return { ignored: 'not an issue event' };
  const issue = getMember(payload, 'object_attributes');
  const action = readText(issue, 'action');
  const labelChanges = getMember(getMember(payload, 'changes'), 'labels');
  const isAdded =
    hasLabel(getMember(labelChanges, 'current'), label) && !hasLabel(getMember(labelChanges, 'previous'), label);
  const isNew = action === 'open' && hasLabel(getMember(payload, 'labels'), label);
  if (!isNew && !(action === 'update' && isAdded)) return { ignored: 'the label was not added' };
  return {
    repository: readText(getMember(payload, 'project'), 'path_with_namespace'),
    number: readInteger(issue, 'iid'),
    title: readText(issue, 'title'),
    body: readText(issue, 'description'),
    url: readText(issue, 'url'),
    sender: readText(getMember(payload, 'user'), 'username'),
  };
}

function hasLabel(labels: unknown, label: string): boolean {
  return Array.isArray(labels) && labels.some((each) => readText(each, 'title') === label);
}

function readText(value: unknown, name: string): string {
  const field = getMember(value, name);
  return typeof field === 'string' ? field : '';
}

function readInteger(value: unknown, name: string): number {
  const field = getMember(value, name);
  return Number.isSafeInteger(field) ? Number(field) : 0;
}

/** Creates the handlers for schedules: list, pause, resume, run now. A pause is kept in the store, for all servers. */
export function createScheduleHandlers(server: ServerContext) {
  const { store, lead, settings, logger, clock } = server;
  const options = { schedules: settings.schedules, lead, store, logger };

  function findSchedule(name: string): { readonly name: string; readonly schedule: Schedule } {
    const schedule = Object.hasOwn(settings.schedules, name) ? settings.schedules[name] : undefined;
    if (schedule !== undefined) return { name, schedule };
    throw new RequestError('NO_SUCH_PATH', 'Schedule not found. GET /v1/schedules lists all schedules.');
  }

  async function describe({ name, schedule }: ReturnType<typeof findSchedule>): Promise<ScheduleView> {
    const [view] = await listSchedules({ schedules: { [name]: schedule }, store });
    if (view === undefined) throw new Error('unreachable: one schedule has one description');
    return view;
  }

  return {
    listSchedules: async () => ({ items: await listSchedules(options), next_cursor: null }),
    listTicks: async () => ({ items: await store.listTicks(), next_cursor: null }),
    async pauseSchedule({ params, body, caller, requestId }) {
      const found = findSchedule(params.name);
      const pause = { schedule: found.name, who: caller.name, why: body.why, at: new Date(clock()).toISOString() };
      await store.pauseSchedule(pause);
      logger.info('schedule paused', { ...pause, request_id: requestId });
      return describe(found);
    },
    async resumeSchedule({ params, caller, requestId }) {
      const found = findSchedule(params.name);
      await store.resumeSchedule(found.name);
      logger.info('schedule resumed', { schedule: found.name, who: caller.name, request_id: requestId });
      return describe(found);
    },
    async runSchedule({ params, caller }) {
      server.checkAcceptsWork();
      return runSchedule(options, { ...findSchedule(params.name), who: caller.name });
    },
  } satisfies Partial<Handlers>;
}
