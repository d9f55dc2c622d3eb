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

/** Packs the package in a folder as `npm publish` would, into another folder. */
export async function pack(folder: string, destination: string): Promise<Tarball> {
  const packReport = await run('npm', ['pack', '--silent', '--json', '--pack-destination', destination], folder);
  if (packReport.exitCode !== 0) throw new Error(`npm pack failed: ${packReport.stderr}${packReport.stdout}`);
  // A build script can print something before the report.
  const report = PackReport.parse(JSON.parse(packReport.stdout.slice(packReport.stdout.indexOf('[\n'))));
  const [first] = report;
  if (first === undefined) throw new Error('npm pack created no tarball');
  return { path: join(destination, first.filename), files: first.files.map((file) => file.path) };
}
