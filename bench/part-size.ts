import { PROJECT, runTool } from '../scripts/run-tool.js';
import type { PartResult } from './part-result.js';

/** What a browser loads, as the size gate measures it. */
export async function runSize(): Promise<PartResult> {
  const { exitCode, stdout } = await runTool('tsx', ['scripts/size.ts'], PROJECT);
  const [, measured = 'unknown', limit = 'unknown'] = /: (\S+ kB).*limit (\S+ kB)/.exec(stdout) ?? [];
  return {
    title: 'Size',
    targets: [{ what: 'sluice/json, minified and gzipped', limit: `≤ ${limit}`, measured, met: exitCode === 0 }],
    tables: [],
    groups: [],
  };
}
