import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { onTestFinished } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';

/** A program of the sources, ready to be started any number of times. */
export interface BundledProgram {
  /** Starts it for the running test, which it does not outlive; its errors go where those of the tests go. */
  start(args: readonly string[]): ChildProcessByStdio<Writable, Readable, null>;
}

/** In one text all files would have the same address; each keeps its own, by which it finds what lies beside it. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.(?:ts|mjs)$/ }, async ({ path }) => {
      const address = JSON.stringify(pathToFileURL(path).href);
      const contents = (await readFile(path, 'utf8')).replaceAll('import.meta.url', address);
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/**
 * Makes one text of a program and what it imports of the sources. Through a loader for TypeScript every start would take
 * most of a second of a processor; what is killed again and again is started again and again.
 */
export async function bundleProgram(program: URL): Promise<BundledProgram> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [ownAddresses],
    write: false,
    logLevel: 'error',
  });
  const text = outputFiles.map((file) => file.text).join('');
  return {
    start(args) {
      // Node.js reads it from its input, and finds packages from the folder it is started in.
      const child = spawn(process.execPath, ['--input-type=module', '-', ...args], {
        cwd: PROJECT,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      // One that is killed before it has read everything is no failure of the test.
      child.stdin.on('error', () => undefined).end(text);
      return child;
    },
  };
}
