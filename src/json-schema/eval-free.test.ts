import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';

const testFolder = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-eval-free-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Bundles code that imports from the entry, as a page's bundler would. */
function bundle(source: string, outfile: string) {
  return build({
    stdin: { contents: source, resolveDir: testFolder, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outfile: join(folder, outfile),
    metafile: true,
    logLevel: 'error',
  });
}

test('a bundle that only uses interpretJsonSchema does not contain Ajv', async () => {
  const source = "import { interpretJsonSchema } from './index.js'; console.log(interpretJsonSchema({}))";
  const { metafile } = await bundle(source, 'interpret.mjs');
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const bundled = inputs.filter(([, input]) => input.bytesInOutput > 0).map(([name]) => name);
  expect(bundled.some((name) => name.includes('interpreter/'))).toBe(true);
  expect(bundled.filter((name) => name.includes('node_modules'))).toEqual([]);
});

test('fromJsonSchema works if code generation is forbidden', async () => {
  const source = `
    import { fromJsonSchema } from './index.js';
    let forbidden = false;
    try { new Function('') } catch { forbidden = true }
    const schema = fromJsonSchema({ type: 'string', pattern: '^(?=a)' });
    console.log(forbidden, 'value' in schema['~standard'].validate('a'), 'value' in schema['~standard'].validate('b'));`;
  await bundle(source, 'forbidden.mjs');
  const flags = ['--disallow-code-generation-from-strings', join(folder, 'forbidden.mjs')];
  expect(execFileSync(process.execPath, flags, { encoding: 'utf8' }).trim()).toBe('true true false');
});
