import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir, homedir } from 'node:os';
import { join } from 'node:path';
import type { FcmpEvent } from '../../events/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import { listLaunchers, startRun, type Run, type RunPorts, type Secrets } from '../index.js';
import { readSpan } from '../../base/files/index.js';
import {
  AUDIT_FOLDER,
  getRunFolderPath,
  openRunFolder,
  replayRunFolder,
  translateRunFolder,
} from '../run-folder/index.js';

/** Whether a scenario worked. `limited`: it worked, but without a feature that other agents have. */
export interface TrialStep {
  readonly scenario: ScenarioName;
  readonly outcome: 'worked' | 'limited' | 'failed';
  readonly detail: string;
  readonly duration_ms: number;
  readonly run_id: string;
}

interface PlayedRun {
  readonly result: RunResult;
  readonly events: readonly FcmpEvent[];
  readonly canAsk: boolean;
  readonly hasFile: (name: string) => boolean;
}

interface Scenario {
  readonly spec: Partial<RunSpec> & { readonly prompt: string };
  /** The answer to permission requests; without one, no agent is asked to request any. */
  readonly answer?: 'allow_once' | 'reject_once';
  /** Whether the run is canceled when the agent has started. */
  readonly isCanceled?: true;
  readonly judge: (run: PlayedRun) => Pick<TrialStep, 'outcome' | 'detail'>;
}

/** The content of a file that no agent can guess. */
const WORD = 'marmalade';
const NOTE = 'note.txt';
const TARGET = 'denied.txt';

const worked = (detail: string) => ({ outcome: 'worked', detail }) as const;
const limited = (detail: string) => ({ outcome: 'limited', detail }) as const;
const failed = (detail: string) => ({ outcome: 'failed', detail }) as const;

/** Five short scenarios that show whether an agent can be used as an engine. */
const SCENARIOS = {
  hello: {
    spec: { prompt: 'Reply with the single word hello. Do not use any tools.' },
    judge: ({ result }) =>
      /hello/iu.test(result.text ?? '') ? worked('it answered') : failed('its answer does not contain "hello"'),
  },
  tool: {
    spec: { prompt: `Read the file ${NOTE} in the current folder and reply with the word it contains.` },
    answer: 'allow_once',
    judge: ({ result, events }) => {
      if (!(result.text ?? '').includes(WORD)) return failed(`its answer does not contain the word in ${NOTE}`);
      return events.some(({ type }) => type === 'assistant.tool_call')
        ? worked('it read a file')
        : limited('it read a file, but its output does not show the tool call');
    },
  },
  schema: {
    spec: {
      prompt: 'How many letters does the word "seven" have?',
      contract: { schema: { type: 'object', properties: { letters: { type: 'integer' } }, required: ['letters'] } },
      max_retries: 1,
    },
    judge: ({ result: { attempts } }) =>
      worked(attempts === 1 ? 'its answer matches the schema' : 'its second answer matches the schema'),
  },
  permission: {
    spec: { prompt: `Write the word done to the file ${TARGET} in the current folder.` },
    answer: 'reject_once',
    judge: ({ events, canAsk, hasFile }) => {
      const hasAsked = events.some(({ type }) => type === 'permission.required');
      if (!hasFile(TARGET))
        return hasAsked || !canAsk
          ? worked(hasAsked ? 'it asked, and accepted the denial' : 'with permissions: safe, it wrote nothing')
          : limited('it did not ask, and wrote nothing');
      return hasAsked
        ? failed('it wrote the file although that was denied')
        : limited('it wrote a file without asking: restrict it in its own settings, or use a sandbox');
    },
  },
  cancel: {
    spec: { prompt: 'Count from 1 to 1000, one number per line. Do not use any tools.' },
    isCanceled: true,
    judge: ({ result }) =>
      result.status === 'canceled' ? worked('it stopped') : limited('it ended before it was canceled'),
  },
} as const satisfies Readonly<Record<string, Scenario>>;

/** The names of the scenarios, in order. */
export type ScenarioName = keyof typeof SCENARIOS;

/** Enough for a slow model; an agent that waits for a login would otherwise wait forever. */
const TIME_LIMIT_S = 180;

/** Drives an agent through five scenarios, each in an empty folder, until the signal is aborted. */
export async function* tryAgent(
  engine: string,
  ports: RunPorts,
  { signal, model }: { readonly signal?: AbortSignal; readonly model?: string | undefined } = {},
): AsyncGenerator<TrialStep> {
  for (const [scenario, details] of Object.entries<Scenario>(SCENARIOS)) {
    if (signal?.aborted === true) return;
    const spec = { engine, ...(model === undefined ? {} : { model }) };
    yield { scenario: scenario as ScenarioName, ...(await playScenario(details, spec, ports, signal)) };
  }
}

async function playScenario(
  { spec, answer, isCanceled, judge }: Scenario,
  common: Pick<RunSpec, 'engine' | 'model'>,
  ports: RunPorts,
  signal: AbortSignal | undefined,
): Promise<Omit<TrialStep, 'scenario'>> {
  const canAsk = listLaunchers(ports.agents, ports.launchers)[common.engine]?.canAsk === true;
  const workdir = await realpath(await mkdtemp(join(tmpdir(), 'sluice-try-')));
  try {
    await writeFile(join(workdir, NOTE), `${WORD}\n`);
    const startedAt = Date.now();
    const asks = answer !== undefined && canAsk ? ({ permissions: 'ask' } as const) : {};
    // Without the configured rules, which could answer instead.
    const run = startRun(
      { ...common, ...spec, ...asks, workdir, limits: { time_s: TIME_LIMIT_S, hold_s: TIME_LIMIT_S } },
      { ...ports, approvals: [] },
    );
    const cancel = (): void => void run.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    const events: FcmpEvent[] = [];
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      events.push(event);
      if (isCanceled === true) cancel();
      if (event.type === 'permission.required') replyTo(event.data, answer, run);
    }
    signal?.removeEventListener('abort', cancel);
    const result = await run.result;
    const played = { result, events, canAsk, hasFile: (name: string) => existsSync(join(workdir, name)) };
    const { status, error } = result;
    const isUnexpected = status === 'failed' || (status === 'canceled' && isCanceled !== true);
    const verdict = isUnexpected ? failed(`${error?.code}: ${error?.message}`) : judge(played);
    return { ...verdict, duration_ms: Date.now() - startedAt, run_id: run.id };
  } finally {
    await rm(workdir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Answers a permission request, or denies it if it has no such option. */
function replyTo(
  { interaction_id, options }: Extract<FcmpEvent, { type: 'permission.required' }>['data'],
  answer: Scenario['answer'],
  run: Run,
): void {
  const option = options.find(({ kind }) => kind === answer) ?? options.find(({ kind }) => kind.startsWith('reject'));
  // The run can end before the answer arrives.
  void run.reply({ interaction_id, option_id: option?.id ?? '' }).catch(() => undefined);
}

interface RecordedScenario extends TrialStep {
  /** `same` if the events can be rebuilt from the bytes. */
  readonly replay: string;
  /** Types and fields that this version of Sluice does not know, with the number of occurrences. */
  readonly unknown_types: Readonly<Record<string, number>>;
  readonly unknown_fields: Readonly<Record<string, number>>;
  /** The streams, by file name; only the start of long ones. */
  readonly streams: Readonly<Record<string, string>>;
}

/** Enough for the short scenarios; a bug report has a limit too. */
const MAX_STREAM_BYTES = 256 * 1024;

/** Replays the run of a scenario and collects what Sluice does not know about it. */
export async function recordScenario(step: TrialStep, data: string): Promise<RecordedScenario> {
  const dir = getRunFolderPath(data, step.run_id);
  const folder = await openRunFolder(dir, { trustedRoot: data });
  const unknown = { unknown_types: {}, unknown_fields: {} } satisfies Record<string, Record<string, number>>;
  for await (const _ of translateRunFolder(folder, {
    onDrift(summary) {
      addCounts(unknown.unknown_types, summary.unknown_types);
      addCounts(unknown.unknown_fields, summary.unknown_fields);
    },
  }));
  const { status: replay } = await replayRunFolder(dir);
  const streams: Record<string, string> = {};
  for await (const recorded of folder.files()) {
    const { path, size } = recorded;
    if (!path.startsWith(`${AUDIT_FOLDER}/`) || !/\/std(?:in|out|err)\.\d+\.log$/u.test(path)) continue;
    const file = await recorded.open();
    if (file === undefined) continue;
    try {
      const bytes = await readSpan(file, 0, Math.min(size, MAX_STREAM_BYTES));
      streams[path.slice(AUDIT_FOLDER.length + 1)] = bytes.toString('utf8');
    } finally {
      await file.close();
    }
  }
  return { ...step, replay, ...unknown, streams };
}

function addCounts(total: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
}

/** Renders a report as JSON, with secrets masked and the home folder replaced by `~` in every string. */
export function renderRecord(report: object, secrets: Secrets): string {
  const home = homedir();
  const clean = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? secrets.maskText(value).replaceAll(home, '~') : value;
  return `${JSON.stringify(report, clean, 2)}\n`;
}
