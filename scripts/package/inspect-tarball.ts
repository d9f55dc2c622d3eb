import { join } from 'node:path';
import { installTools } from '../install-tools.js';
import { run } from '../run-tool.js';
import type { Tarball } from './pack.js';

/** Lists all problems of a packed package: its manifest, its types, its contents. */
export async function inspectTarball({ path, files }: Tarball, folder: string): Promise<string[]> {
  const programs = join(await installTools('tools/package'), '.bin');
  const manifest = await run(join(programs, 'publint'), ['run', path, '--strict'], folder);
  // Entries that need Node.js are published as ES modules only, so attw must not require CommonJS. `matrix.ts` checks that the
  // other entries can be loaded with `require`.
  const types = await run(
    join(programs, 'attw'),
    [path, '--profile', 'esm-only', '--no-color', '--format', 'ascii'],
    folder,
  );
  const unexpectedFiles = files.filter((file) => /\.(test|contract)\.|(^|\/)fixtures\//.test(file));
  return [
    ...(manifest.exitCode === 0 ? [] : [`publint: ${manifest.stdout}${manifest.stderr}`]),
    ...(types.exitCode === 0 ? [] : [`attw: ${types.stdout}${types.stderr}`]),
    ...unexpectedFiles.map((file) => `${file} does not belong in the package`),
  ];
}
