import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { run } from '../run-tool.js';

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      peer: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
    }),
  ),
});
const PackReport = z.tuple([z.object({ unpackedSize: z.number(), entryCount: z.number() })]);

/** Measures the installed dependencies of the package, in bytes. */
export function measureDependencies(project: string): number {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')));
  return Object.entries(packages)
    .filter(([path, { dev, peer, optional, devOptional }]) => path !== '' && !(dev ?? peer ?? optional ?? devOptional))
    .reduce((sum, [path]) => sum + measureFolder(join(project, path)), 0);
}

/** Measures an unpacked package: its bytes and files. It must be built first. */
export async function measureUnpacked(folder: string): Promise<{ readonly bytes: number; readonly files: number }> {
  const { exitCode, stdout, stderr } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], folder);
  if (exitCode !== 0) throw new Error(`npm pack failed: ${stderr}${stdout}`);
  const [{ unpackedSize, entryCount }] = PackReport.parse(JSON.parse(stdout));
  return { bytes: unpackedSize, files: entryCount };
}

function measureFolder(path: string): number {
  const { size } = lstatSync(path);
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.reduce((sum, entry) => {
    const inside = join(path, entry.name);
    return sum + (entry.isDirectory() ? measureFolder(inside) : lstatSync(inside).size);
  }, size);
}

/**
 * The number of processes started for each module. Only the fastest run counts, because interference can only add time.
 */
const STARTS = 7;

/**
 * Measures the import of each module as a multiple of starting Node.js, in processor time, which other load hardly
 * affects.
 */
export async function measureImports(files: readonly string[]): Promise<readonly number[]> {
  const scripts = ['', ...files.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});`)];
  const cheapest = scripts.map(() => Infinity);
  for (let start = 0; start < STARTS; start += 1) {
    for (const [index, script] of scripts.entries()) {
      cheapest[index] = Math.min(cheapest[index] ?? Infinity, await measureScript(script));
    }
  }
  const [empty = Number.NaN, ...imports] = cheapest;
  return imports.map((cost) => Math.max(0, cost - empty) / empty);
}

async function measureScript(script: string): Promise<number> {
  const report = 'const { user, system } = process.cpuUsage(); console.log(user + system);';
  const args = ['--input-type=module', '-e', `${script}${report}`];
  const { exitCode, stdout, stderr } = await run(process.execPath, args, process.cwd());
  if (exitCode !== 0) throw new Error(`cannot run ${script}: ${stderr}`);
  return Number(stdout);
}
