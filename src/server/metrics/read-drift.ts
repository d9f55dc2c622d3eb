import { openForReading } from '../../audit/files/safe-file.js';
import { openRunFolder } from '../../audit/open-run-folder.js';
import { driftSummarySchema } from '../../events/protocol/drift-summary.js';
import type { DriftSummary } from '../../events/protocol/drift-summary.js';
import { fromJsonSchema } from '../../json-schema/index.js';
import { runFolderPath } from '../../runs/run-folder/run-folder-path.js';

const schema = fromJsonSchema<DriftSummary>(driftSummarySchema);

/** The summaries are the last rows of their attempts; what is further up are single diagnostics. */
const MOST_BYTES = 256 * 1024;

/** What a run met that this version does not know, attempt by attempt; none if its folder is not on this machine. */
export async function readDrift(data: string, runId: string): Promise<readonly DriftSummary[]> {
  try {
    const folder = await openRunFolder(runFolderPath(data, runId));
    const handle = await openForReading(folder.logPath('diagnostics'));
    if (handle === undefined) return [];
    try {
      const { size } = await handle.stat();
      const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8', 0, bytesRead).split('\n').flatMap(readSummary);
    } finally {
      await handle.close();
    }
  } catch {
    // A folder that is gone, damaged or elsewhere has nothing to tell; the figures go on without it.
    return [];
  }
}

function readSummary(line: string): DriftSummary[] {
  if (!line.includes('"summary":"drift"')) return [];
  try {
    const checked = schema['~standard'].validate(JSON.parse(line));
    return checked instanceof Promise || checked.issues !== undefined ? [] : [checked.value];
  } catch {
    return [];
  }
}
