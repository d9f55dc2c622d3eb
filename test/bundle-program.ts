import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { onTestFinished } from 'vitest';
import { PROJECT, run, type ToolRun } from '../scripts/run-tool.js';

/** A bundled script, ready to be started any number of times. */
export interface BundledProgram {
  /**
   * Starts it for the running test and stops it afterwards; it shares stderr with the tests. `descriptors` limits how
   * many files it may open, `uid` starts it as another user.
   */
  start(
    args: readonly string[],
    options?: { readonly descriptors?: number; readonly uid?: number },
  ): ChildProcessByStdio<Writable, Readable, null>;
}

/** Keeps each bundled file's own URL, which it uses to find other files; otherwise all would have the bundle's URL. */
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

/** JavaScript packages that the product needs: loading their hundreds of files takes longer than running them. */
const INSIDE = /^(?:commander|eventsource-parser|hono|zod|@agentclientprotocol\/sdk|@hono\/node-server)(?:\/|$)/;

/**
 * Bundles those packages and their dependencies; others stay external, because a native package must find its library.
 */
const plainPackages: Plugin = {
  name: 'plain packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[a-z@]/ }, ({ path, importer }) => {
      const isInside = INSIDE.test(path) || importer.includes('/node_modules/');
      return isInside ? undefined : { path, external: true };
    });
  },
};

/** Options for bundling this project's scripts; installed packages stay external. */
const BUNDLED = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  plugins: [ownAddresses],
  logLevel: 'error',
} satisfies BuildOptions;

/**
 * Options for bundling the product's commands, which are started often: minified, with the packages they always load.
 */
export const BUNDLED_PRODUCT = {
  ...BUNDLED,
  packages: 'bundle',
  plugins: [plainPackages, ownAddresses],
  minifySyntax: true,
  minifyWhitespace: true,
  // For CommonJS packages that load Node.js modules.
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
} satisfies BuildOptions;

/** Node.js reads the script from stdin and resolves packages from the folder it is started in. */
const FROM_INPUT = ['--input-type=module', '-'];

/**
 * Bundles a script and its imports into one string, for tests that start it often: with a TypeScript loader every start
 * would take most of a second of processor time.
 */
export async function bundleProgram(program: URL): Promise<BundledProgram> {
  const text = await bundleText(fileURLToPath(program), BUNDLED_PRODUCT);
  return {
    start(args, { descriptors, uid } = {}) {
      const limited = descriptors === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
      const [command = '', ...rest] = [...limited, process.execPath, ...FROM_INPUT, ...args];
      const child = spawn(command, rest, {
        cwd: PROJECT,
        stdio: ['pipe', 'pipe', 'inherit'],
        ...(uid === undefined ? {} : { uid, gid: uid }),
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      // A process killed before it has read its script must not fail the test.
      child.stdin.on('error', () => undefined).end(text);
      return child;
    },
  };
}

/** Runs a project script (`scripts/layering.ts`, say) to completion, as `tsx` would. It cannot read stdin. */
export async function runScript(path: string, args: readonly string[] = []): Promise<ToolRun> {
  return run(process.execPath, [...FROM_INPUT, ...args], PROJECT, await bundleText(join(PROJECT, path), BUNDLED));
}

/** Bundled scripts by path: test files share a process. */
const bundled = new Map<string, Promise<string>>();

async function bundleText(path: string, options: BuildOptions): Promise<string> {
  const text = bundled.get(path) ?? bundle(path, options);
  bundled.set(path, text);
  return text;
}

async function bundle(path: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...options, entryPoints: [path], write: false });
  return outputFiles.map((file) => file.text).join('');
}
