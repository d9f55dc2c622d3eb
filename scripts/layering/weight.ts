import { readFile } from 'node:fs/promises';
import type { ImportGraph } from './import-graph.js';

/** How much code there is. */
export interface Weight {
  /** Lines of `src` without tests, fixtures and contracts, and of `web`, with the texts of both languages. */
  readonly src: number;
  readonly web: number;
  readonly files: number;
  /** Files that only one file imports. */
  readonly withOneImporter: number;
  readonly longestFile: number;
}

/** The current weight, which may only sink: what a feature adds, another change takes away first. */
const WEIGHT_LIMITS: Weight = { src: 86_600, web: 18_930, files: 691, withOneImporter: 207, longestFile: 400 };

/** Weighs the source files under a folder. */
export async function weigh(root: string, { files, edges }: ImportGraph): Promise<Weight> {
  const lines = await Promise.all(
    files.map(async (file) => (await readFile(`${root}/${file}`, 'utf8')).split('\n').length - 1),
  );
  const count = (folder: string): number =>
    lines.reduce((sum, length, index) => sum + (files[index]?.startsWith(folder) === true ? length : 0), 0);
  const importers = new Map<string, number>();
  for (const { to } of edges) importers.set(to, (importers.get(to) ?? 0) + 1);
  const lone = files.filter((file) => importers.get(file) === 1).length;
  return {
    src: count('src/'),
    web: count('web/'),
    files: files.length,
    withOneImporter: lone,
    longestFile: Math.max(0, ...lines),
  };
}

/** Lists what weighs more than its limit, as messages. */
export function findOverweight(weight: Weight, limits: Weight = WEIGHT_LIMITS): string[] {
  const names = Object.keys(limits) as (keyof Weight)[];
  return names
    .filter((name) => weight[name] > limits[name])
    .map((name) => `${name}: ${weight[name]}, limit ${limits[name]}`);
}
