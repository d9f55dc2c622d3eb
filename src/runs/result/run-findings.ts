import { omitUndefined, truncate } from '../../base/index.js';
import { isRasp } from '../../events/index.js';
import type { DriftSummary, Emitted, FailureCause, FsDiff, RaspData, RaspEvent } from '../../events/index.js';
import { isJsonObject } from '../../json/schema/index.js';
import type { RunDenial, RunDiagnostic, RunDrift, RunResult } from '../../store/records/index.js';

/** Maximum listed diagnostics, counted separately for the engine and its reader, so drift does not hide an error. */
const MAX_DIAGNOSTICS = 25;
const MAX_DENIALS = 50;
const MAX_MESSAGE_LENGTH = 1000;
const MAX_INPUT_LENGTH = 1024;
/** Engines repeat some failures for minutes; the first can be an expired token, or a session that is compacted. */
const MAX_STUCK_FAILURES = 3;

export interface EngineFailure {
  readonly cause: FailureCause;
  readonly message: string;
  readonly httpStatus: number | undefined;
}

type EngineError = RaspData<'diagnostic.engine.error'>;
type EngineReport = NonNullable<RunResult['engine_report']>;

/** Findings besides the answer: diagnostics, denied tools, the model, and why a run failed. */
export class RunFindings {
  readonly #engine = new Map<string, RunDiagnostic>();
  readonly #reader = new Map<string, RunDiagnostic>();
  readonly #denials = new Map<string, RunDenial>();
  /** Permission requests without an answer, by id. */
  readonly #requests = new Map<string, RaspData<'interaction.permission.required'>>();
  #model: string | undefined;
  #report: { -readonly [Key in keyof EngineReport]: EngineReport[Key] } | undefined;
  /** The engine's last error, unless the agent continued after it. */
  engineFailure: EngineFailure | null = null;
  /** Consecutive failures that a retry does not change, and their cause. */
  #stuck: { readonly cause: FailureCause; readonly times: number } | null = null;

  /** Whether the engine goes on although its credentials are rejected, or its session never fits the model's context. */
  get isEngineStuck(): boolean {
    return (this.#stuck?.times ?? 0) >= MAX_STUCK_FAILURES;
  }

  /** Clears the previous attempt's error, which does not explain how the next attempt ends. */
  startAttempt(): void {
    this.engineFailure = null;
    this.#stuck = null;
  }

  add(events: readonly Emitted[]): void {
    for (const { protocol, event } of events) if (protocol === 'rasp') this.#addEvent(event);
  }

  /** Adds a diagnostic from Sluice itself. Returns whether it is listed and the first of its kind. */
  addDiagnostic(diagnostic: Omit<RunDiagnostic, 'count'>): boolean {
    return count(this.#reader, diagnostic);
  }

  #addEvent(event: RaspEvent): void {
    const { ts: at } = event;
    if (isRasp(event, 'diagnostic.engine.error')) this.#addEngineError(event.data, at);
    else if (isRasp(event, 'diagnostic.parser.warning') || isRasp(event, 'diagnostic.parser.error')) {
      count(this.#reader, { code: event.data.code, message: event.data.message });
    } else if (isRasp(event, 'lifecycle.run.status')) this.#addStatus(event.data, at);
    else if (isRasp(event, 'tool.call.failed')) {
      const { name: tool, tool_call_id, input, error, output } = event.data;
      const why = [error, output].find((text) => typeof text === 'string' && DENIED_PATTERN.test(text));
      if (typeof why === 'string') this.#deny({ tool, tool_call_id, input, why, by: 'engine', at });
    } else if (isRasp(event, 'interaction.permission.required'))
      this.#requests.set(event.data.interaction_id, event.data);
    else if (isRasp(event, 'interaction.permission.replied')) this.#addReply(event.data, at);
    else if (isRasp(event, 'raw.stderr')) this.#addCodexDenial(event.data.text, at);
    // The failure stays: the engine is being stopped because of it.
    else if (this.isEngineStuck) return;
    else if (isRasp(event, 'tool.call.started')) {
      this.engineFailure = null;
      this.#stuck = null;
    }
    // Qwen Code repeats an error as the agent's last message, which is not an answer.
    else if (isRasp(event, 'agent.message.final') && !event.data.text.includes(this.engineFailure?.message ?? '')) {
      this.engineFailure = null;
    }
  }

  #addEngineError(error: EngineError, at: string): void {
    const { code, message, severity, http_status } = error;
    count(this.#engine, { code, message, severity, ...(http_status === undefined ? {} : { http_status }) });
    this.#addCodexDenial(message, at);
    if (severity === 'error' || error.retrying) {
      const { cause = 'unknown' } = error;
      // OpenCode compacts a session that is too long and goes on, without end if it stays too long.
      const isHopeless = cause === 'context' || (cause === 'auth' && error.retrying);
      const times = this.#stuck?.cause === cause ? this.#stuck.times + 1 : 1;
      this.#stuck = isHopeless ? { cause, times } : null;
      this.engineFailure = { cause, message: truncate(message, MAX_MESSAGE_LENGTH), httpStatus: http_status };
    }
  }

  #addStatus({ status, model, detail }: RaspData<'lifecycle.run.status'>, at: string): void {
    // Claude Code marks its own messages with `<synthetic>` instead of a model.
    if (model !== undefined && !model.startsWith('<')) this.#model ??= model;
    if (!isJsonObject(detail)) return;
    if (status === 'permission_denied') this.#addDenial(detail, at);
    if (status === 'result') this.#addReport({ ...detail, ...(isJsonObject(detail['usage']) ? detail['usage'] : {}) });
    const denials = detail['permission_denials'];
    if (Array.isArray(denials)) for (const denial of denials) if (isJsonObject(denial)) this.#addDenial(denial, at);
  }

  #addReport(result: Readonly<Record<string, unknown>>): void {
    for (const [name, key] of Object.entries(REPORTED_FIELDS)) {
      const value = result[name];
      if (typeof value !== 'number' || value < 0) continue;
      this.#report ??= {};
      this.#report[key] = (this.#report[key] ?? 0) + value;
    }
  }

  #addReply(
    { interaction_id: id, decision, by, who, why }: RaspData<'interaction.permission.replied'>,
    at: string,
  ): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    if (request === undefined || decision === 'allow') return;
    const { tool, tool_call_id, input } = request;
    const given = why ?? (by === 'rule' ? `A rule denied ${tool}.` : `${who ?? 'A user'} denied ${tool}.`);
    this.#deny({ tool, tool_call_id, input, why: given, by, at, ...omitUndefined({ who }) });
  }

  /** Adds a denial in the format of Claude Code and Qwen Code. */
  #addDenial(denial: Readonly<Record<string, unknown>>, at: string): void {
    const { tool_name: tool, tool_use_id: id, tool_input: input, message } = denial;
    if (typeof tool !== 'string') return;
    const why = typeof message === 'string' ? message : `The engine denied ${tool}.`;
    this.#deny({ tool, why, by: 'engine', at, input, ...(typeof id === 'string' ? { tool_call_id: id } : {}) });
  }

  /** Adds a denial by Codex, which only logs it: neither the tool nor the call is in its events. */
  #addCodexDenial(text: string, at: string): void {
    const why = CODEX_DENIED_PATTERN.exec(text)?.[0];
    if (why !== undefined) this.#deny({ tool: 'shell', why, by: 'engine', at });
  }

  /** Adds a denial. The same call can be reported more than once; each report can add missing fields. */
  #deny({ tool, tool_call_id, input, ...denial }: RunDenial): void {
    const key = tool_call_id ?? `${tool} ${denial.why}`;
    const known = this.#denials.get(key);
    if (known === undefined && this.#denials.size >= MAX_DENIALS) return;
    const shortInput = known?.input ?? (isShort(input) ? input : undefined);
    // The first report is the decision itself; the engine's own follow it.
    const { by, who, why, at } = known ?? denial;
    this.#denials.set(key, {
      tool,
      by,
      ...omitUndefined({ who }),
      why: truncate(why, MAX_MESSAGE_LENGTH),
      at,
      ...omitUndefined({ tool_call_id, input: shortInput }),
    });
  }

  /** Returns the findings for the result; `requested` is the requested model. */
  summarize(requested: string | undefined): Pick<RunResult, 'model' | 'diagnostics' | 'denials' | 'engine_report'> {
    const model = this.#model ?? requested;
    const diagnostics = [...this.#engine.values(), ...this.#reader.values()];
    const denials = [...this.#denials.values()];
    return {
      ...(model === undefined ? {} : { model }),
      ...(diagnostics.length === 0 ? {} : { diagnostics }),
      ...(denials.length === 0 ? {} : { denials }),
      ...(this.#report === undefined ? {} : { engine_report: this.#report }),
    };
  }
}

/** Counts diagnostics that differ only in times, attempts and ids; returns whether this is the first. */
function count(kinds: Map<string, RunDiagnostic>, found: Omit<RunDiagnostic, 'count'>): boolean {
  const message = truncate(found.message, MAX_MESSAGE_LENGTH);
  const kind = `${found.code} ${found.http_status ?? ''} ${message.replaceAll(/\breq-\S+|\d+/g, '#')}`;
  const known = kinds.get(kind);
  if (known === undefined && kinds.size >= MAX_DIAGNOSTICS) return false;
  kinds.set(kind, { ...found, message, count: (known?.count ?? 0) + 1 });
  return known === undefined;
}

/** The names of reported numbers in the results of Claude Code and Qwen Code, and of Copilot. */
const REPORTED_FIELDS: Readonly<Record<string, keyof EngineReport>> = {
  premiumRequests: 'premium_requests',
  duration_ms: 'duration_ms',
  sessionDurationMs: 'duration_ms',
  duration_api_ms: 'duration_api_ms',
  totalApiDurationMs: 'duration_api_ms',
};

/** Matches the responses of engines to a denied tool call. Gemini and OpenCode withhold the tools instead. */
const DENIED_PATTERN =
  /^Permission to use .{1,200} has been denied|^Permission to run this tool was denied|permission was declined|denied by policy|rule which prevents you from using|rejected permission to use|^Model tried to call unavailable tool|Tool "(?:write_file|replace|run_shell_command)" not found/i;

const CODEX_DENIED_PATTERN = /approval policy is \w+; reject command[^\n]*/;

export const CAUSE_HINTS: Readonly<Record<FailureCause, string>> = {
  auth: "Check the engine's credentials.",
  rate_limit: 'Wait, or use another account or model.',
  quota: "Check the account's quota and billing.",
  model: 'Check the model name and the status of its provider.',
  server: 'Wait, or check the status of the provider.',
  context: 'Shorten the prompt or the session, or use a model with a larger context.',
  network: "Check the network and the URL of the model's API.",
  permission: 'Check what the account is allowed to use.',
  unknown: 'See the diagnostics in the result.',
};

function isShort(input: unknown): boolean {
  return input !== undefined && (JSON.stringify(input) ?? '').length <= MAX_INPUT_LENGTH;
}

export const NO_CHANGES: FsDiff = { created: [], modified: [], deleted: [] };

/**
 * Merges the changes of two consecutive attempts: a file created and then modified counts as created, a file created
 * and then deleted is omitted, and a file deleted and then recreated counts as modified.
 */
export function mergeFsDiffs(first: FsDiff, second: FsDiff): FsDiff {
  const changes = new Map<string, keyof FsDiff>();
  for (const change of CHANGES) for (const path of first[change]) changes.set(path, change);
  for (const change of CHANGES) {
    for (const path of second[change]) {
      const merged = combineChanges(changes.get(path), change);
      if (merged === undefined) changes.delete(path);
      else changes.set(path, merged);
    }
  }
  const listPaths = (change: keyof FsDiff): string[] =>
    [...changes].flatMap(([path, last]) => (last === change ? [path] : [])).toSorted();
  return { created: listPaths('created'), modified: listPaths('modified'), deleted: listPaths('deleted') };
}

const CHANGES = ['created', 'modified', 'deleted'] as const;

function combineChanges(before: keyof FsDiff | undefined, now: keyof FsDiff): keyof FsDiff | undefined {
  if (before === 'created') return now === 'deleted' ? undefined : 'created';
  if (before === 'deleted' && now === 'created') return 'modified';
  return now;
}

export function hasChanges({ created, modified, deleted }: FsDiff): boolean {
  return created.length + modified.length + deleted.length > 0;
}

/** Adds an attempt's drift to the run's; undefined if neither has any. */
export function addDrift(before: RunDrift | undefined, attempt: DriftSummary | null): RunDrift | undefined {
  if (attempt === null) return before;
  return {
    unknown_types: (before?.unknown_types ?? 0) + sum(attempt.unknown_types),
    unknown_fields: (before?.unknown_fields ?? 0) + sum(attempt.unknown_fields),
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, each) => total + each, 0);
}
