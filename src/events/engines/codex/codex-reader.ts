import type { Reader } from '../../engine.js';
import type { Usage } from '../../protocol/usage.js';
import { countField, nameField, objectField, stringField } from '../../record-fields.js';
import type { Report } from '../../report.js';
import { readItem } from './codex-items.js';
import { RECORD_FIELDS, USAGE_FIELDS } from './records.js';

/** `Reconnecting... 2/5 (…)`: the only mark of a retry that Codex prints. */
const RETRY = /^Reconnecting\.\.\.(?: (\d{1,6})\/(\d{1,6}))?/u;

/** Reads what `codex exec --json` prints. */
export function createCodexReader(report: Report): Reader {
  return {
    json: ({ value }) => readRecord(value, report),
    text({ stream, problem }) {
      // Without `--json` and in its log Codex writes plain lines to stderr; on stdout they mean damage.
      if (stream === 'stderr' && problem === null) report.noise();
      else report.unparsed();
    },
    end() {},
  };
}

function readRecord(record: object, report: Report): void {
  const type = stringField(record, 'type');
  const known = type === null ? undefined : RECORD_FIELDS[type];
  if (type === null || known === undefined) return report.unknownType(type ?? 'a record without a type');
  report.checkFields(record, known, type);
  switch (type) {
    case 'thread.started':
      return report.status({ status: type, session_id: nameField(record, 'thread_id') });
    case 'turn.started':
      report.turnStarted();
      return report.status({ status: type });
    case 'turn.completed':
      report.status({ status: type, usage: readUsage(record, report) });
      return report.endSignal('CODEX_TURN_COMPLETED');
    case 'turn.failed': {
      const message = stringField(objectField(record, 'error') ?? {}, 'message') ?? 'The turn failed.';
      report.engineError({ message });
      return report.runtimeError(message);
    }
    case 'error':
      return readError(record, report);
    default:
      return readItem(type.slice('item.'.length), record, report);
  }
}

/** Not terminal by itself: either Codex recovers, or `turn.failed` follows. */
function readError(record: object, report: Report): void {
  const message = stringField(record, 'message');
  if (message === null) return report.unparsed('MALFORMED_RECORD', 'An error record has no message.');
  const retry = RETRY.exec(message);
  if (retry === null) return report.engineError({ message });
  const [, attempt, maxAttempts] = retry;
  report.engineError({
    message,
    retrying: true,
    attempt: attempt === undefined ? null : Number(attempt),
    maxAttempts: maxAttempts === undefined ? null : Number(maxAttempts),
  });
}

function readUsage(record: object, report: Report): Usage | null {
  const usage = objectField(record, 'usage');
  if (usage === null) return null;
  report.checkFields(usage, USAGE_FIELDS, 'turn.completed.usage');
  const cached = countField(usage, 'cached_input_tokens');
  const cacheWrite = countField(usage, 'cache_write_input_tokens');
  const reasoning = countField(usage, 'reasoning_output_tokens');
  return {
    scope: 'total',
    input_tokens: countField(usage, 'input_tokens') ?? 0,
    output_tokens: countField(usage, 'output_tokens') ?? 0,
    ...(cached === null ? undefined : { cached_input_tokens: cached }),
    ...(cacheWrite === null ? undefined : { cache_write_tokens: cacheWrite }),
    ...(reasoning === null ? undefined : { reasoning_tokens: reasoning }),
  };
}
