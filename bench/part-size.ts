import { PROJECT, runTool } from '../scripts/run-tool.js';
import type { PartResult } from './part-result.js';

/** Measures the bytes that a browser loads, with the size gate. */
export async function runSize(): Promise<PartResult> {
  const { stdout } = await runTool('tsx', ['scripts/size.ts'], PROJECT);
  const targets = [...stdout.matchAll(/^(.*): (\S+ kB) .*goal (\S+ kB)$/gm)].map(
    ([, what = '', measured = '', goal = '']) => {
      const met = Number.parseFloat(measured) <= Number.parseFloat(goal);
      return { what: `${what}, minified and gzipped`, limit: `≤ ${goal}`, measured, met };
    },
  );
  return {
    title: 'Size',
    targets,
    tables: [],
    groups: [],
  };
}
