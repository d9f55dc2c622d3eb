import { join } from 'node:path';
import { z } from 'zod';
import { run } from '../run-tool.js';

const PackReport = z.array(z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) }));

/** A package as it would be published. */
export interface Tarball {
  readonly path: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
}

/** Packs the package in a folder as `npm publish` would, into another folder, but without building it again. */
export async function pack(folder: string, destination: string): Promise<Tarball> {
  const options = ['--silent', '--json', '--ignore-scripts', '--pack-destination', destination];
  const packReport = await run('npm', ['pack', ...options], folder);
  if (packReport.exitCode !== 0) throw new Error(`npm pack failed: ${packReport.stderr}${packReport.stdout}`);
  const [first] = PackReport.parse(JSON.parse(packReport.stdout));
  if (first === undefined) throw new Error('npm pack created no tarball');
  return { path: join(destination, first.filename), files: first.files.map((file) => file.path) };
}

/** Lists why npm would not publish the package in a folder as it is. Nothing is sent. */
export async function tryPublishing(folder: string): Promise<string[]> {
  const { exitCode, stdout, stderr } = await run(
    'npm',
    ['publish', '--dry-run', '--ignore-scripts', '--loglevel=notice'],
    folder,
  );
  const isPublished = exitCode === 0 && !/auto-corrected|--access/.test(stderr);
  return isPublished ? [] : [`npm publish --dry-run: ${stderr}${stdout}`];
}
