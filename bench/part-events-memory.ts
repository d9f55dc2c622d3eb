import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PartResult } from './part-result.js';

const MEGABYTE = 1_000_000;
/** The allowed growth after the first 64 MiB, for uncollected garbage. */
const LIMIT = 64 * MEGABYTE;

/** Measures the memory while 1 GiB of log is translated, in a separate process. */
export async function runEventsMemory(): Promise<PartResult> {
  const program = fileURLToPath(new URL('./events-memory.js', import.meta.url));
  const rows = ['200', '20000'].map((lineBytes) => {
    const printed = execFileSync(process.execPath, ['--expose-gc', '--import', 'tsx', program, lineBytes], {
      encoding: 'utf8',
    });
    return { lineBytes, ...(JSON.parse(printed) as { bytes: number; early: number; late: number; unclaimed: number }) };
  });
  return {
    title: 'Events: memory',
    targets: rows.map(({ lineBytes, early, late, unclaimed }) => ({
      what: `memory after 1 GiB in lines of ${lineBytes} bytes, compared with 64 MiB`,
      limit: `≤ ${LIMIT / MEGABYTE} MB more, every byte claimed`,
      measured: `${Math.round((late - early) / MEGABYTE)} MB`,
      met: late - early <= LIMIT && unclaimed === 0,
    })),
    tables: [
      {
        title: 'Resident memory of a translator without a terminal',
        columns: ['bytes per line', 'bytes read', 'after 64 MiB', 'at the end'],
        rows: rows.map(({ lineBytes, bytes, early, late }) => [
          lineBytes,
          bytes.toLocaleString('en-US'),
          `${Math.round(early / MEGABYTE)} MB`,
          `${Math.round(late / MEGABYTE)} MB`,
        ]),
      },
    ],
    groups: [],
  };
}
