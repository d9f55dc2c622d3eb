import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectTarball } from '../scripts/package/inspect-tarball.js';
import { pack, tryPublishing } from '../scripts/package/pack.js';
import { tryAsConsumer } from '../scripts/package/try-as-consumer.js';
import { makeFolder } from './temporary-folder.js';

const MANIFEST = {
  name: 'planted',
  version: '1.0.0',
  license: 'MIT',
  type: 'module',
  files: ['dist'],
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
};
const VALID_MANIFEST = {
  'dist/index.js': 'export const a = 1;\n',
  'dist/index.d.ts': 'export declare const a: number;\n',
};

async function packPlanted(manifest: object, files: Readonly<Record<string, string>>) {
  const folder = await makeFolder({ 'package.json': JSON.stringify({ ...MANIFEST, ...manifest }), ...files });
  return { folder, tarball: await pack(folder, folder) };
}

describe('npm run package', () => {
  it('finds nothing wrong with a sound package and runs it as a consumer', async () => {
    const { folder, tarball } = await packPlanted(
      {},
      { ...VALID_MANIFEST, 'program.ts': `import { a } from 'planted';\na.toFixed();\n` },
    );
    expect(await inspectTarball(tarball, folder)).toEqual([]);
    const trial = await tryAsConsumer(tarball.path, join(folder, 'program.ts'), join(folder, 'consumer'));
    expect(trial).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('refuses an entry without its file, types that do not resolve, and tests in the package', async () => {
    const exports = { '.': MANIFEST.exports['.'], './b': { types: './dist/b.d.ts', default: './dist/b.js' } };
    const files = { ...VALID_MANIFEST, 'dist/index.test.js': '' };
    const { folder, tarball } = await packPlanted({ exports }, files);
    const problems = await inspectTarball(tarball, folder);
    expect(problems).toEqual([
      expect.stringMatching(/^publint: [^]*dist\/b\.js/),
      expect.stringMatching(/^attw: [^]*planted\/b/),
      'dist/index.test.js does not belong in the package',
    ]);
  });

  it('refuses a manifest that npm would not publish as it is', async () => {
    const { folder } = await packPlanted({}, VALID_MANIFEST);
    expect(await tryPublishing(folder)).toEqual([]);
    const { folder: corrected } = await packPlanted({ repository: 'acme/shop' }, VALID_MANIFEST);
    expect(await tryPublishing(corrected)).toEqual([expect.stringContaining('auto-corrected')]);
  });

  it('refuses declarations that a consumer cannot compile against', async () => {
    const files = { ...VALID_MANIFEST, 'program.ts': `import { b } from 'planted';\nb.toFixed();\n` };
    const { folder, tarball } = await packPlanted({}, files);
    const trial = await tryAsConsumer(tarball.path, join(folder, 'program.ts'), join(folder, 'consumer'));
    expect(trial.exitCode).not.toBe(0);
    expect(trial.stdout).toContain(`has no exported member 'b'`);
  });

  it('refuses a package that compiles but does not run', async () => {
    const files = {
      ...VALID_MANIFEST,
      'dist/index.js': '',
      'program.ts': `import { a } from 'planted';\na.toFixed();\n`,
    };
    const { folder, tarball } = await packPlanted({}, files);
    const trial = await tryAsConsumer(tarball.path, join(folder, 'program.ts'), join(folder, 'consumer'));
    expect(trial.exitCode).not.toBe(0);
    expect(trial.stderr).toContain(`does not provide an export named 'a'`);
  });
});
