import { PROJECT, runTool } from '../scripts/run-tool.js';
import type { PartResult } from './part-result.js';

/** Measures what a browser loads, as the size gate does. */
export async function runSize(): Promise<PartResult> {
  const { stdout } = await runTool('tsx', ['scripts/size.ts'], PROJECT);
  const targets = [...stdout.matchAll(/^(.*): (\S+ kB) .*aim (\S+ kB)$/gm)].map(
    ([, what = '', measured = '', aim = '']) => {
      const met = Number.parseFloat(measured) <= Number.parseFloat(aim);
      return { what: `${what}, minified and gzipped`, limit: `≤ ${aim}`, measured, met };
    },
  );
  return {
    title: 'Size',
    targets,
    tables: [],
    groups: [],
  };
}
