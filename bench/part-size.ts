import { PROJECT, runTool } from '../scripts/run-tool.js';
import type { PartResult } from './part-result.js';

/** What a browser loads, as the size gate measures it; the target is the aim, not the limit that only keeps it from growing. */
export async function runSize(): Promise<PartResult> {
  const { stdout } = await runTool('tsx', ['scripts/size.ts'], PROJECT);
  const [, measured = 'unknown', aim = 'unknown'] = /: (\S+ kB).*aim (\S+ kB)/.exec(stdout) ?? [];
  const met = Number.parseFloat(measured) <= Number.parseFloat(aim);
  return {
    title: 'Size',
    targets: [{ what: 'sluice/json, minified and gzipped', limit: `≤ ${aim}`, measured, met }],
    tables: [],
    groups: [],
  };
}
