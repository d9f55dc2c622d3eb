import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, run, type ToolRun } from '../run-tool.js';

/** The compilers, bundlers and runtimes, which are installed separately from the project's own packages. */
const TOOLS = join(PROJECT, 'test/package-matrix/node_modules');
const ARM = process.arch === 'arm64';

/** One way to use the package: its name, and commands that must succeed; the last one prints `EXPECTED`. */
interface Trial {
  readonly name: string;
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** Compilers print nothing. */
  readonly silent?: boolean;
}

/** The outcome of the trials. */
export interface MatrixReport {
  readonly passed: readonly string[];
  /** Tools that are not published for this platform. */
  readonly notRun: readonly string[];
  readonly problems: readonly string[];
}

const EXPECTED = 'line 3';
const BODY = `const schema = z.object({ line: z.number() });
const result = parse('Sure: \`\`\`json\\n{line: 3,}\\n\`\`\`', schema);
if (!result.ok) throw result.error;
const line = result.value.line;
const read = fromJsonSchema({ type: 'object', required: ['line'] });
if (!parse('{"line": 3}', read).ok || typeof other !== 'function') throw new Error('an entry is broken');
`;
/** Both packages, with the names of their entries, and a name of one more entry. */
const PACKAGES = {
  'sluice-json': {
    json: 'sluice-json',
    schema: 'sluice-json/json-schema',
    other: ['streamToolCalls', 'sluice-json/tool-calls'],
  },
  sluice: { json: 'sluice/json', schema: 'sluice/json-schema', other: ['createTranslator', 'sluice/events'] },
} as const;

/** Uses the packages installed in `folder` with every tool of the matrix. */
export async function tryMatrix(folder: string): Promise<MatrixReport> {
  // Not `npm ci`: the lock file lists some tools only for the platform it was written on.
  const installed = await run(
    'npm',
    ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'],
    join(TOOLS, '..'),
  );
  if (installed.exitCode !== 0) return { passed: [], notRun: [], problems: [`matrix: ${installed.stderr}`] };
  cpSync(join(TOOLS, 'zod'), join(folder, 'node_modules/zod'), { recursive: true });
  const passed: string[] = [];
  const notRun: string[] = [];
  const problems: string[] = [];
  for (const name of ['sluice-json', 'sluice'] as const) {
    const project = join(folder, `matrix-${name}`);
    mkdirSync(project, { recursive: true });
    writePrograms(project, PACKAGES[name]);
    for (const trial of [...listTrials(project), ...(name === 'sluice' ? AI_SDKS : [])]) {
      const title = `${name} in ${trial.name}`;
      if (trial.commands.some(([program]) => program.startsWith(TOOLS) && !existsSync(program))) {
        notRun.push(title);
        continue;
      }
      const failure = await findFailure(trial, project);
      if (failure === undefined) passed.push(title);
      else problems.push(`${title}: ${failure}`);
    }
  }
  return { passed, notRun, problems };
}

async function findFailure({ commands, silent }: Trial, project: string): Promise<string | undefined> {
  let last: ToolRun = { exitCode: 0, stdout: '', stderr: '' };
  for (const [program, ...args] of commands) {
    last = await run(program, args, project);
    if (last.exitCode !== 0) return `${program} exited with ${last.exitCode}\n${last.stdout}${last.stderr}`;
  }
  const output = `${last.stdout}${last.stderr}`;
  return silent === true || output.includes(EXPECTED) ? undefined : `printed\n${output}`;
}

function writePrograms(project: string, entries: (typeof PACKAGES)[keyof typeof PACKAGES]): void {
  const imports = [
    ['{ parse }', entries.json],
    ['{ fromJsonSchema }', entries.schema],
    ['{ z }', 'zod'],
  ] as const;
  const [other, otherEntry] = entries.other;
  const esm = [
    ...imports.map(([names, from]) => `import ${names} from '${from}';\n`),
    `import { ${other} as other } from '${otherEntry}';\n`,
  ].join('');
  const cjs = [
    ...imports.map(([names, from]) => `const ${names} = require('${from}');\n`),
    `const { ${other}: other } = require('${otherEntry}');\n`,
  ].join('');
  const print = 'console.log(`line ${line}`);\n';
  const files = {
    'package.json': '{ "private": true, "type": "module" }',
    'program.mjs': `${esm}${BODY}${print}`,
    'program.cjs': `${cjs}${BODY}${print}`,
    'program.mts': `${esm}${BODY}const typed: number = line;\nexport { typed };\n`,
    'program.cts': `${esm}${BODY}const typed: number = line;\nexport { typed };\n`,
    'program.test.cjs': `${cjs}test('reads', () => {\n${BODY}expect(line).toBe(3);\nprocess.stdout.write(\`line \${line}\`);\n});\n`,
    'page.mjs': `${esm}export function read() {\n${BODY}return \`line \${line}\`;\n}\nglobalThis.read = read;\n`,
    'worker.mjs': `import { read } from './page.bundle.mjs';\nexport default { async test() { console.log(read()); } };\n`,
    'worker.capnp': WORKER,
    'rollup.config.mjs': ROLLUP,
    'webpack.config.cjs': WEBPACK,
    'edge.cjs': EDGE,
    'vite.config.mjs': VITE,
    'ai-sdk-5.mjs': AI_SDK_5,
    'ai-sdk-7.mjs': AI_SDK_7,
  };
  for (const resolution of ['node16', 'nodenext', 'bundler']) {
    const isBundler = resolution === 'bundler';
    const compilerOptions = {
      module: isBundler ? 'esnext' : resolution,
      moduleResolution: resolution,
      target: 'es2022',
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    };
    const config = { compilerOptions, files: isBundler ? ['program.mts'] : ['program.mts', 'program.cts'] };
    writeFileSync(join(project, `tsconfig.${resolution}.json`), JSON.stringify(config));
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
}

/** Returns the path of a matrix tool. */
function getToolPath(path: string): string {
  return join(TOOLS, path);
}

/** Returns the path of one of the project's own tools. */
function getProjectToolPath(name: string): string {
  return join(PROJECT, 'node_modules/.bin', name);
}

function listTrials(project: string): Trial[] {
  const node = process.execPath;
  const createBundlerTrial = (name: string, ...bundler: readonly string[]): Trial => ({
    name,
    commands: [bundler as [string, ...string[]], [node, `${name.toLowerCase()}.bundle.mjs`]],
  });
  const page: Trial['commands'][number] = [
    getProjectToolPath('esbuild'),
    'page.mjs',
    '--bundle',
    '--format=esm',
    '--outfile=page.bundle.mjs',
    '--log-level=error',
  ];
  return [
    { name: 'Node.js, ES modules', commands: [[node, 'program.mjs']] },
    { name: 'Node.js, CommonJS', commands: [[node, 'program.cjs']] },
    ...['22', '24'].flatMap((version) => {
      const other = getToolPath(`node-${version === '22' ? '22-' : ''}linux-${process.arch}/bin/node`);
      return ['program.mjs', 'program.cjs'].map((file) => ({
        name: `Node.js ${version}, ${file}`,
        commands: [[other, file] as [string, string]],
      }));
    }),
    ...['5.4', '5.9', '6', '7'].flatMap((version) => {
      const tsc: [string, ...string[]] =
        version === '7' ? [getProjectToolPath('tsc')] : [node, getToolPath(`typescript-${version}/bin/tsc`)];
      return ['node16', 'nodenext', 'bundler'].map((resolution) => ({
        name: `TypeScript ${version}, ${resolution}`,
        silent: true,
        commands: [[...tsc, '-p', `tsconfig.${resolution}.json`] as [string, ...string[]]],
      }));
    }),
    {
      name: 'Jest 29',
      commands: [[node, getToolPath('jest/bin/jest.js'), '--rootDir', project, '--testMatch', '**/*.test.cjs']],
    },
    createBundlerTrial(
      'esbuild',
      getProjectToolPath('esbuild'),
      'program.mjs',
      '--bundle',
      '--format=esm',
      '--platform=neutral',
      '--main-fields=module,main',
      '--outfile=esbuild.bundle.mjs',
      '--log-level=error',
    ),
    createBundlerTrial('Rollup', node, getToolPath('rollup/dist/bin/rollup'), '--silent', '-c', 'rollup.config.mjs'),
    createBundlerTrial('webpack', node, 'webpack.config.cjs'),
    createBundlerTrial(
      'Vite',
      getProjectToolPath('vite'),
      'build',
      '--ssr',
      'program.mjs',
      '--outDir',
      '.',
      '--emptyOutDir',
      'false',
      '--logLevel',
      'error',
      '--config',
      'vite.config.mjs',
    ),
    { name: 'Bun', commands: [[getToolPath(`@oven/bun-linux-${ARM ? 'aarch64' : 'x64'}/bin/bun`), 'program.mjs']] },
    {
      name: 'Deno',
      commands: [
        [
          getToolPath(`@deno/linux-${process.arch}-glibc/deno`),
          'run',
          '--allow-all',
          '--node-modules-dir=manual',
          'program.mjs',
        ],
      ],
    },
    {
      name: 'workerd',
      commands: [
        page,
        [getToolPath(`@cloudflare/workerd-linux-${ARM ? 'arm64' : '64'}/bin/workerd`), 'test', 'worker.capnp'],
      ],
    },
    { name: 'Edge Runtime', commands: [page, [node, 'edge.cjs']] },
  ];
}

const WORKER = `using Workerd = import "/workerd/workerd.capnp";
const unit :Workerd.Config = (services = [(name = "main", worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs"), (name = "page.bundle.mjs", esModule = embed "page.bundle.mjs")],
  compatibilityDate = "2026-01-01"))]);
`;
const AI_SDK_7 = `import { Output, simulateReadableStream, streamText, wrapLanguageModel } from '${join(TOOLS, 'ai-7/dist/index.js')}';
import { MockLanguageModelV4 } from '${join(TOOLS, 'ai-7/dist/test/index.js')}';
import { jsonMiddleware } from 'sluice/ai-sdk';
import { z } from 'zod';
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const text = (delta) => ({ type: 'text-delta', id: '1', delta });
const chunks = [
  { type: 'text-start', id: '1' }, text('Sure: \`\`\`json\\n{li'), text('ne: 3,}\\n\`\`\`'), { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
];
const provider = new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
const model = wrapLanguageModel({ model: provider, middleware: jsonMiddleware({ version: 'v4' }) });
const output = Output.object({ schema: z.object({ line: z.number() }) });
const answer = streamText({ model, output, prompt: 'Which line?' });
await answer.consumeStream();
console.log(\`line \${(await answer.output).line}\`);
`;
const AI_SDK_5 = `import { generateObject, simulateReadableStream, streamObject, wrapLanguageModel } from '${join(TOOLS, 'ai-5/dist/index.mjs')}';
import { MockLanguageModelV2 } from '${join(TOOLS, 'ai-5/dist/test/index.mjs')}';
import { jsonMiddleware, repairText } from 'sluice/ai-sdk';
import { z } from 'zod';
const schema = z.object({ line: z.number() });
const answer = 'Sure: \`\`\`json\\n{line: 3,}\\n\`\`\`';
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const model = new MockLanguageModelV2({
  doGenerate: async () => ({ content: [{ type: 'text', text: answer }], finishReason: 'stop', usage, warnings: [] }),
  doStream: async () => ({ stream: simulateReadableStream({ chunks: [
    { type: 'text-start', id: '1' }, ...answer.match(/[^]{1,4}/g).map((delta) => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' }, { type: 'finish', finishReason: 'stop', usage },
  ] }) }),
});
const wrapped = wrapLanguageModel({ model, middleware: jsonMiddleware() });
const { partialObjectStream, object } = streamObject({ model: wrapped, schema, prompt: 'Which line?' });
const partials = [];
for await (const partial of partialObjectStream) partials.push(partial);
const repaired = await generateObject({ model, schema, prompt: 'Which line?', experimental_repairText: repairText(schema) });
if ((await object).line !== 3 || partials.length === 0) throw new Error('the stream is broken');
console.log(\`line \${repaired.object.line}\`);
`;
const AI_SDKS: readonly Trial[] = [
  { name: 'AI SDK 5', commands: [[process.execPath, 'ai-sdk-5.mjs']] },
  {
    name: 'AI SDK 7 on Node.js 24',
    commands: [[getToolPath(`node-linux-${process.arch}/bin/node`), 'ai-sdk-7.mjs']],
  },
];
const ROLLUP = `import resolve from '${join(TOOLS, '@rollup/plugin-node-resolve/dist/es/index.js')}';
export default { input: 'program.mjs', output: { file: 'rollup.bundle.mjs', format: 'es' }, plugins: [resolve()] };
`;
const WEBPACK = `const webpack = require('${join(TOOLS, 'webpack')}');
webpack({
  mode: 'production', entry: './program.mjs', target: 'node', context: __dirname,
  output: { path: __dirname, filename: 'webpack.bundle.mjs', module: true, chunkFormat: 'module' }, experiments: { outputModule: true },
}, (error, stats) => {
  const failure = error ?? (stats.hasErrors() ? stats.toString('errors-only') : undefined);
  if (failure !== undefined) { console.error(String(failure)); process.exitCode = 1; }
});
`;
const VITE = `export default { build: { rollupOptions: { output: { entryFileNames: 'vite.bundle.mjs' } } }, ssr: { noExternal: true } };
`;
const EDGE = `const { readFileSync } = require('node:fs');
const { EdgeVM } = require('${join(TOOLS, '@edge-runtime/vm')}');
const page = readFileSync('page.bundle.mjs', 'utf8');
const source = page.replace(/export \\{[^]*$/, '');
console.log(new EdgeVM({ codeGeneration: { strings: false, wasm: false } }).evaluate(source + ';globalThis.read()'));
`;
