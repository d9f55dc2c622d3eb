import { homedir } from 'node:os';
import { readSpan } from '../../base/files/index.js';
import {
  AUDIT_FOLDER,
  getRunFolderPath,
  openRunFolder,
  replayRunFolder,
  translateRunFolder,
} from '../run-folder/index.js';
import type { Secrets } from '../index.js';
import type { TrialStep } from './try-agent.js';

/** A scenario's recording, with the parts of the agent's format that are unknown. */
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
