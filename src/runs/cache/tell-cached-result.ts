import { AttemptRecord } from '../capture/attempt-record.js';
import type { RunContext } from '../conduct/run-context.js';
import { modeOf } from '../conduct/run-context.js';
import { Answer } from '../judge/answer.js';
import type { CachedResult } from '../ports/result-cache.js';
import type { RunResult } from '../../records/index.js';

/**
 * Tells a kept result as if it had just been said: an attempt without a process, whose output is the value. It is
 * recorded like any other, so it can be replayed, and names the run it came from.
 */
export async function tellCachedResult(context: RunContext, kept: CachedResult): Promise<RunResult> {
  const { id, folder, journal, ports, progress, spec } = context;
  progress.attempts = 1;
  const start = {
    runId: id,
    attempt: 1,
    engine: 'generic',
    reads: 'generic',
    mode: modeOf(context),
    fcmpSeq: 0,
    sessionId: null,
    reply: null,
    cachedFrom: kept.run_id,
    answer: new Answer('messages'),
  } as const;
  const record = new AttemptRecord(start, folder, journal, ports.clock);
  try {
    await record.begin({ input: '' });
    // Nothing was used, and nothing was started.
    const { value, text = '', usage: _usage, process: _process, ...result } = kept.result;
    const said = value === undefined ? text : JSON.stringify(value);
    await record.keep([{ stream: 'stdout', bytes: Buffer.from(`${said}\n`), ms: record.now() }]);
    // Only a clean exit is kept.
    const verdict = spec.contract === undefined ? 'no_contract' : 'validated';
    const { events } = await record.end({ exitCode: 0, signal: null, verdict });
    await record.tellEnd(events);
    progress.fcmpSeq = record.fcmpSeq;
    const given = value === undefined ? { text } : { value };
    return { ...result, ...given, attempts: 1, session_id: null, cached_from: kept.run_id };
  } finally {
    await record.close();
  }
}
