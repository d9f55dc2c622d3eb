import { openForReading } from '../../files/index.js';
import { openRunFolder, runFolderPath } from '../../run-folder/index.js';
import { driftSummarySchema } from '../../events/index.js';
import type { DriftSummary } from '../../events/index.js';
import { fromJsonSchema } from '../../json-schema/index.js';

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
