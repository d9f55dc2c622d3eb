import { isAbsolute } from 'node:path';
import { omitUndefined, isSluiceError, cutText } from '../../base/index.js';
import { markUnverified, type IssueState, type OrderRecord, type InboxItem } from '../../store/records/index.js';
import type { OrderView } from '../api/index.js';
import { readChange, readRace } from '../../orders/dispatch/index.js';
import { RequestError, StaleDecisionError } from '../http/problem.js';
import { readTraceparent } from '../http/read-request.js';
import type { Handlers } from '../http/request-checks.js';
import { resolveAllowedFolder } from '../security/allowed-folder.js';
import type { ServerContext } from '../server-context.js';
import { readPage } from './query.js';
import { addHosts } from './run-view.js';
import { LeadError, type ResolveRequest } from '../../orders/index.js';
import type { Caller } from '../security/tokens.js';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createRateLimit } from '../security/rate-limit.js';
import type { TriggerSettings } from '../server-settings.js';

/** The maximum number of orders returned with an issue: the newest. `run_id` selects an older one. */
const MAX_ORDERS = 20;

/** Creates the handlers for orders and issues. */
export function createOrderHandlers(server: ServerContext) {
  const { store, lead, settings, data, logger, clock } = server;
  const { repos, filters } = lead;
  const maskText = (text: string): string => lead.maskText(text);

  /** Checks that a folder is allowed. The lead checks that the URL of a repository is in the configuration. */
  async function checkFolder<Body extends { readonly repo?: string; readonly repo_dir?: string }>(body: Body) {
    const folder = body.repo_dir ?? (isAbsolute(body.repo ?? '') ? body.repo : undefined);
    if (folder === undefined) return body;
    return { ...body, repo_dir: await resolveAllowedFolder(folder, { roots: settings.roots, data }) };
  }

  async function listNewestOrders(issueRef: string): Promise<readonly OrderRecord[]> {
    return (await store.listOrders({ issueRef, limit: MAX_ORDERS })).items;
  }

  async function findOrders(issueRef: string, runId: string): Promise<readonly OrderRecord[]> {
    const order = await store.findOrder(issueRef, runId);
    return order === undefined ? [] : [order];
  }

  return {
    async submitOrder({ body, caller, requestId, context }) {
      server.checkAcceptsWork();
      const { record, rivals } = await lead.submit(await checkFolder(body), {
        traceparent: readTraceparent(context),
        by: caller.name,
        // The request is recorded before the run can be claimed, so the run counts against the caller's budget.
        beforeQueued: async (run) => store.recordRequest({ ...run, caller: caller.name, now: clock() }),
      });
      const { issue_ref, run_id } = record.order;
      logger.info('order submitted', { issue_ref, run_id, caller: caller.name, request_id: requestId });
      return { ...toOrderView(record), ...(rivals.length === 0 ? {} : { rivals: rivals.map(toOrderView) }) };
    },
    async listIssues({ query }) {
      const state = query['state'] as IssueState | undefined;
      const { search } = query;
      return store.listIssues({ ...readPage(query), ...omitUndefined({ state, search }) });
    },
    async getIssue({ params, query }) {
      const issueRef = params.ref;
      const runId = query['run_id'];
      const issue = await store.findIssue(issueRef);
      if (issue === undefined) throw createIssueNotFoundError();
      const [orders, inbox] = await Promise.all([
        runId === undefined ? listNewestOrders(issueRef) : findOrders(issueRef, runId),
        store.listInbox({ issueRef, open: true, limit: MAX_ORDERS }),
      ]);
      return {
        issue,
        orders: (await addHosts(store, orders)).map(toOrderView),
        inbox: await addHosts(store, inbox.items),
        needs_attention: issue.state === 'needs-human',
      };
    },
    async getIssueDiff({ params, query }) {
      const issue = await store.findIssue(params.ref);
      const runId = query['run_id'] ?? issue?.active_run_id ?? issue?.active_group;
      const record = runId === undefined ? undefined : await store.findOrder(params.ref, runId);
      if (record === undefined) throw createIssueNotFoundError();
      return readChange({ data, maskText, repos, filters }, record);
    },
    async getIssueRace({ params }) {
      const race = await readRace({ store, data, maskText, repos, filters }, params.ref);
      if (race === undefined) throw createIssueNotFoundError();
      return race;
    },
  } satisfies Partial<Handlers>;
}

function createIssueNotFoundError(): RequestError {
  return new RequestError('ISSUE_NOT_FOUND', 'Issue not found. GET /v1/issues lists all issues.');
}

function toOrderView(record: OrderRecord & { readonly host?: string }): OrderView {
  const { issue_ref, run_id, worker } = record.order;
  return { issue_ref, run_id, worker, ...record };
}

type Resolution = Omit<ResolveRequest, 'id' | 'who'> & { readonly who?: string };

/** Settled items are listed newest first. */
const SETTLED = { open: false, order: 'newest' } as const;

/** Creates the inbox handlers: list, read, preview, resolve. */
export function createInboxHandlers(server: ServerContext) {
  const { store, lead, guard, logger } = server;

  async function findItem(id: string): Promise<InboxItem> {
    const item = await store.findItem(id);
    if (item !== undefined) return item;
    throw new LeadError('ITEM_NOT_FOUND', 'Inbox item not found. GET /v1/inbox?open=false lists all items.');
  }

  /**
   * Adds the author of the decision. With tokens, it is the name of the token; without tokens, the request may name any
   * author, which is recorded as unverified.
   */
  function readResolveRequest(id: string, { who, ...resolution }: Resolution, caller: Caller): ResolveRequest {
    if (guard.hasConfiguredTokens() && who !== undefined && who !== caller.name) {
      throw new RequestError(
        'INVALID_BODY',
        `"who" must be the name of your token, "${caller.name}". Use that name, or omit "who".`,
      );
    }
    return { ...resolution, id, who: who === undefined || who === caller.name ? caller.name : markUnverified(who) };
  }

  /** Adds the active run to a conflict, so the console can link to it. */
  async function addActiveRun(error: unknown, id: string): Promise<unknown> {
    if (!isSluiceError(error) || error.code !== 'CONFLICT') return error;
    const { issue_ref } = await findItem(id);
    return new StaleDecisionError(error, (await store.findIssue(issue_ref))?.active_run_id ?? null);
  }

  return {
    async listInbox({ query }) {
      const { issue_ref: issueRef, open, settled } = query;
      const filter = settled === 'true' ? SETTLED : open === 'false' ? {} : { open: true };
      const page = await store.listInbox({ ...readPage(query), ...filter, ...omitUndefined({ issueRef }) });
      return { ...page, items: await addHosts(store, page.items) };
    },
    async getInboxItem({ params }) {
      const item = await findItem(params.id);
      const [found] = await addHosts(store, [item]);
      return found ?? item;
    },
    async previewResolution({ params, body, caller }) {
      try {
        const comment = await lead.preview(readResolveRequest(params.id, body, caller));
        return { action: body.action, comment };
      } catch (error) {
        throw await addActiveRun(error, params.id);
      }
    },
    async resolveItem({ params, body, caller, requestId }) {
      const request = readResolveRequest(params.id, body, caller);
      try {
        const { item } = await lead.resolve(request);
        const { action, who } = request;
        logger.info('item resolved', { item_id: item.id, action, who, request_id: requestId });
        return item;
      } catch (error) {
        throw await addActiveRun(error, params.id);
      }
    },
  } satisfies Partial<Handlers>;
}

const PER_MINUTE = 30;

/**
 * The maximum lengths of an issue's title and body, which become instructions. The instructions of an order may have
 * 30,000 characters.
 */
const TITLE_LENGTH = 500;
const BODY_LENGTH = 20_000;

const INSTRUCTIONS = 'Resolve issue {ref}: {title}\n\n{body}';

/** Creates the handler for forge webhooks, which submit orders. */
export function createTriggerHandlers(server: ServerContext): Pick<Handlers, 'receiveTrigger'> {
  const { store, lead, settings, logger, clock } = server;
  const limits = new Map(
    Object.entries(settings.triggers).map(([name, { perMinute = PER_MINUTE }]) => [
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
      if (trigger === undefined || secret === '' || !isAuthentic(trigger.type, secret, bytes, header)) {
        throw new RequestError(
          'SIGNATURE_REFUSED',
          'No trigger with this name accepts the signature. Check the URL, the webhook secret, and "triggers" in the configuration.',
        );
      }
      if (limits.get(name)?.take(name) === false)
        throw new RequestError('TOO_MANY_REQUESTS', 'Too many deliveries to this trigger. Try again in a minute.');
      const event = readIssueEvent(trigger.type, trigger.label, body, header);
      const reason = 'ignored' in event ? event.ignored : findReasonToIgnore(trigger, event);
      if ('ignored' in event || reason !== undefined) return { status: 'ignored', ...omitUndefined({ reason }) };
      const caller = `trigger:${name}`;
      const request_id = `${caller}:${readDeliveryId(trigger.type, bytes, header)}`;
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

type TriggerType = TriggerSettings['type'];

/** An issue that was given the label that starts work. */
interface LabeledIssue {
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
type ReadHeader = (name: string) => string | undefined;

/** Whether the sender of a delivery knows the secret: GitHub signs the body with it, GitLab sends it. */
function isAuthentic(type: TriggerType, secret: string, body: Uint8Array, header: ReadHeader): boolean {
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
function readDeliveryId(type: TriggerType, body: Uint8Array, header: ReadHeader): string {
  const deliveryId =
    type === 'github' ? header('x-github-delivery') : (header('idempotency-key') ?? header('x-gitlab-event-uuid'));
  return deliveryId !== undefined && DELIVERY_ID.test(deliveryId)
    ? deliveryId
    : createHash('sha256').update(body).digest('hex');
}

/** Reads the issue that an event added the label to. For any other event, returns the reason why it is ignored. */
function readIssueEvent(
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
