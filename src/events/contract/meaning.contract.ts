import type { Engine } from '../engines/engine.js';
import { createFramer } from '../framing/framer.js';
import type { Emitted } from '../protocol/translator-output.js';
import { selectFcmp } from './emitted-invariants.contract.js';
import type { Fixture } from './engine-fixture.contract.js';
import { describeRecordType, getLastKey, listLeaves } from './lost-leaves.contract.js';

/** Values of records that say nothing about the conversation, by path, and why. */
const WITHOUT_MEANING: readonly { readonly why: string; readonly paths: RegExp }[] = [
  {
    why: 'links records to each other, or names a session',
    paths: /(?:^|[._])(?:id|ids)$|uuids?$|(?:Id|ID|Ids|_id)$|: id$|\.parentId$|callID$|session_?id$|jsonrpc$/u,
  },
  {
    why: 'is the structure of the record: the type of the event says it',
    paths:
      /(?:[.: ])(?:type|subtype|role|status|delta|method|ephemeral|index|sequence|result_index|is_error|success|v|rte|jsonrpc)$/u,
  },
  {
    why: 'is a chunk of a text that another record repeats as a whole',
    paths:
      /^(?:stream_event|assistant\.(?:message|reasoning|tool_call)_delta|assistant\.message_start|tool\.(?:shell_output|execution_partial_result)): (?!ttft_ms|event\.(?:message\.model|delta\.stop_reason))/u,
  },
  { why: 'proves a thought to the model provider', paths: /signature$|[eE]ncryptedContent$|reasoningOpaque$/u },
  {
    why: 'configures the CLI for its own user interface or for tests',
    paths:
      /: (?:slash_commands|terminal_slash_commands|capabilities|ultrathink|view_mode|fast_mode|per_turn_effort|analytics_|product_feedback|messaging_socket|original_cwd)|^control_response: |thinking_display$/u,
  },
  {
    why: 'describes the transport or the telemetry of the CLI',
    paths:
      /responseHeaders\.(?!retry-after|x-ratelimit)|toolTelemetry\.|(?:RequestEncoding|BodyEncoding|WireBytes|editClassifierVersion|containsBuiltInFileEditRequest|isByok|byokKind|isAuto|interactionType|data\.source|delivery|shellToolInfo.*|harness\w+)$/u,
  },
  {
    why: 'lists what a client of the Agent Client Protocol can choose or send, not what was chosen or sent',
    paths:
      /(?:availableCommands|availableModes|availableModels|authMethods|agentCapabilities|_meta\.steering)\.|configOptions\.\*\.(?!currentValue)|: result\.protocolVersion$|sessionUpdate$/u,
  },
  { why: 'is a record without any value but its time', paths: /^session\.background_tasks_changed: / },
];

/** A value with meaning, and whether an FCMP event has it in a named field. */
export interface MeaningLeaf {
  /** `<record type>: <path>`, with `*` for array indexes. */
  readonly path: string;
  readonly value: string | number | boolean;
  readonly isNamed: boolean;
}

/**
 * Compares every value with meaning of every record with the FCMP events of the recording. A value counts as named if a
 * field of an event has it: text within a longer text, times in either form. Booleans and one-digit numbers are common,
 * so they must be in a field that an event of the same record, or the last event, has under the same name.
 */
export function findMeaning(fixture: Fixture, engine: Engine, emitted: readonly Emitted[]): readonly MeaningLeaf[] {
  const leaves: MeaningLeaf[] = [];
  const events = selectFcmp(emitted);
  const strings = new Set<string>();
  const numbers = new Set<number>();
  const small = new Set<string>();
  for (const { path, value } of events.flatMap((event) => listLeaves({ data: event.data, at: event.engine_at }, ''))) {
    if (typeof value === 'string') strings.add(value);
    else if (typeof value === 'number') numbers.add(value);
    small.add(`${normalize(path)} ${value}`);
  }
  const text = [...strings].join('\n');
  const isNamed = (path: string, value: MeaningLeaf['value']): boolean => {
    if (typeof value === 'string') return text.includes(value) || strings.has(toTime(Date.parse(value)));
    if (typeof value === 'number' && Math.abs(value) > 9)
      return (
        numbers.has(value) ||
        [value, value * 1000].some((ms) => strings.has(toTime(ms))) ||
        text.includes(String(value))
      );
    const name = normalize(path);
    return [name, ...(RENAMED[name] ?? [])].some((one) => small.has(`${one} ${value}`));
  };
  for (const attempt of fixture.attempts) {
    for (const stream of ['stdout', 'stderr'] as const) {
      const framer = createFramer({
        stream,
        framing: engine.framing,
        recognizes: (value) => engine.detect(value) > 0,
        onFrame: (frame) => {
          if (frame.kind !== 'json' || engine.detect(frame.value) === 0) return;
          const records = Array.isArray(frame.value) ? (frame.value as readonly unknown[]) : [frame.value];
          for (const record of records) {
            for (const { path: field, value } of listLeaves(record, '')) {
              const path = `${describeRecordType(record)}: ${field}`;
              if (value === '' || WITHOUT_MEANING.some(({ paths }) => paths.test(path))) continue;
              leaves.push({ path, value, isNamed: isNamed(field, value) });
            }
          }
        },
      });
      for (const push of attempt.pushes) if (push.stream === stream) framer.push(push.bytes);
      framer.end();
    }
  }
  return leaves;
}

/** Fields of events whose name is not the engine's, for values that are too common to be found without it. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  numturns: ['turns'],
  queuedturncount: ['queuedturns'],
  retryattempt: ['attempt'],
  maxretries: ['maxattempts'],
  premiumrequests: ['premiumrequests'],
  websearchrequests: ['websearches', 'websearchrequests'],
  webfetchrequests: ['webfetches'],
  dispatchdurationms: ['durationms'],
  sessiondurationms: ['durationms'],
  thinkingdurationms: ['durationms'],
  totalapidurationms: ['durationapims'],
  durationms: ['durationms'],
  delayms: ['retryafterms'],
  additions: ['linesadded'],
  deletions: ['linesremoved'],
  totallinesadded: ['linesadded'],
  totallinesremoved: ['linesremoved'],
  cost: ['cost'],
  costusd: ['cost', 'costusd'],
  totalcostusd: ['cost'],
  cached: ['cachedinputtokens', 'cached'],
  read: ['cachedinputtokens'],
  write: ['cachewritetokens'],
  reasoning: ['reasoningtokens'],
  thoughts: ['reasoningtokens', 'thoughts'],
  thinkingtokens: ['reasoningtokens', 'thinkingtokens'],
  reasoningoutputtokens: ['reasoningtokens'],
  cacheinputtokens: ['cachedinputtokens'],
  cachewriteinputtokens: ['cachewritetokens'],
  cachereadinputtokens: ['cachedinputtokens', 'cachereadinputtokens'],
  cachecreationinputtokens: ['cachewritetokens', 'cachecreationinputtokens'],
  ephemeral1hinputtokens: ['cachecreationephemeral1hinputtokens'],
  ephemeral5minputtokens: ['cachecreationephemeral5minputtokens'],
  candidates: ['outputtokens', 'candidates'],
  prompt: ['inputtokens', 'prompt'],
  input: ['inputtokens', 'input'],
  output: ['outputtokens', 'output'],
  total: ['totaltokens', 'total'],
  cachedreadtokens: ['cachedinputtokens'],
  cachedwritetokens: ['cachewritetokens'],
  thoughttokens: ['reasoningtokens'],
  queuedepth: ['queuedturns'],
  used: ['contexttokens'],
  amount: ['cost'],
  exit: ['exitcode'],
  isretryable: ['retryable'],
};

function normalize(path: string): string {
  return getLastKey(path).replaceAll('_', '').toLowerCase();
}

/** Returns a time in the form that events have; empty if it is not one. */
function toTime(ms: number): string {
  return ms > Date.UTC(2000) && ms < Date.UTC(2100) ? new Date(ms).toISOString() : 'not a time';
}
