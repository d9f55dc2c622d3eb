import { PROJECT, runTool } from '../scripts/run-tool.js';
import type { PartResult, Target } from './part-result.js';

/** Measures the bytes a browser loads, using the size gate. */
export async function runSize(): Promise<PartResult> {
  const { stdout, stderr } = await runTool('tsx', ['scripts/size.ts'], PROJECT);
  const targets = readSizeTargets(stdout);
  if (targets.length === 0) throw new Error(`The size gate printed no size with a goal: ${stdout}${stderr}`);
  return {
    title: 'Size',
    targets,
    tables: [],
    groups: [],
  };
}

/** Reads the sizes that have a goal from the size gate's output, including sizes over their limit. */
export function readSizeTargets(printed: string): readonly Target[] {
  return [...printed.matchAll(/^(.*): (\S+ kB) .*goal (\S+ kB)(?: +over the limit)?$/gm)].map(
    ([, what = '', measured = '', goal = '']) => {
      const met = Number.parseFloat(measured) <= Number.parseFloat(goal);
      return { what: `${what}, minified and gzipped`, limit: `≤ ${goal}`, measured, met };
    },
  );
}
