import { isSluiceError, omitUndefined, cutText } from '../../base/index.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import { createRateLimit } from '../security/rate-limit.js';
import type { ServerContext } from '../server-context.js';
import type { TriggerSettings } from '../server-settings.js';
import { isAuthentic, readDeliveryId, readIssueEvent } from '../triggers/read-issue-event.js';
import type { LabeledIssue } from '../triggers/read-issue-event.js';

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
