import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { onTestFinished } from 'vitest';
import { PROJECT, run, type ToolRun } from '../scripts/run-tool.js';

/** A program of the sources, ready to be started any number of times. */
export interface BundledProgram {
  /**
   * Starts it for the running test, which it does not outlive; its errors go where those of the tests go. `descriptors`
   * limits how many files it may open.
   */
  start(
    args: readonly string[],
    options?: { readonly descriptors?: number },
  ): ChildProcessByStdio<Writable, Readable, null>;
}

/** All files of a bundle would have the same address; each keeps its own, by which it finds its neighbours. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup(bundler) {
    bundler.onLoad({ filter: /\.(?:ts|mjs|js)$/ }, async ({ path }) => {
      const address = JSON.stringify(pathToFileURL(path).href);
      const contents = (await readFile(path, 'utf8')).replaceAll('import.meta.url', address);
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};

/** How programs of this project are bundled; installed packages stay outside. */
export const BUNDLED = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  plugins: [ownAddresses],
  logLevel: 'error',
} satisfies BuildOptions;

/** Node.js reads a program from its input, and finds packages from the folder it is started in. */
const FROM_INPUT = ['--input-type=module', '-'];

/**
 * Bundles a program and what it imports of the sources into one text. Through a loader for TypeScript every start would
 * take most of a second of a processor; what is killed again and again is started again and again.
 */
export async function bundleProgram(program: URL): Promise<BundledProgram> {
  const text = await bundleText(fileURLToPath(program));
  return {
    start(args, { descriptors } = {}) {
      const limited = descriptors === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
      const [command = '', ...rest] = [...limited, process.execPath, ...FROM_INPUT, ...args];
      const child = spawn(command, rest, {
        cwd: PROJECT,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      // One that is killed before it has read everything is not a failure of the test.
      child.stdin.on('error', () => undefined).end(text);
      return child;
    },
  };
}

/** The texts of the scripts that {@link runScript} has bundled, by path. */
const scripts = new Map<string, Promise<string>>();

/** Runs a script of the project (`scripts/layering.ts`, say) to its end, as `tsx` would. It cannot read its input. */
export async function runScript(path: string, args: readonly string[] = []): Promise<ToolRun> {
  const text = scripts.get(path) ?? bundleText(join(PROJECT, path));
  scripts.set(path, text);
  return run(process.execPath, [...FROM_INPUT, ...args], PROJECT, await text);
}

async function bundleText(path: string): Promise<string> {
  const { outputFiles } = await build({ ...BUNDLED, entryPoints: [path], write: false });
  return outputFiles.map((file) => file.text).join('');
}
