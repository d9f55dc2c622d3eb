/**
 * Recorded terminal sessions for the README: `npm run pictures`. Runs commands of the built package in a new
 * repository, in a terminal, and draws their output to `docs/pictures`. The agent is a replayed recording.
 */
import { spawn } from '@lydell/node-pty';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderTerminal } from './pictures/render-terminal.js';
import type { TerminalLine } from './pictures/render-terminal.js';
import { PROJECT } from './run-tool.js';

const FOLDER = join(PROJECT, 'docs/pictures');
const TIME_LIMIT_MS = 120_000;

const home = await mkdtemp(join(tmpdir(), 'sluice-pictures-'));
const repository = join(home, 'shop');
try {
  await prepareRepository();
  await mkdir(FOLDER, { recursive: true });
  const prompt = 'Create artifacts/text.md, then report it.';
  const words = ['--engine', 'codex', '--permissions', 'workspace', '--schema', 'files.schema.json', prompt];
  await draw('run', ['run', ...words], 25);
  await draw('order', ['order', 'request.json'], 42);
} finally {
  await rm(home, { recursive: true, force: true });
}

async function prepareRepository(): Promise<void> {
  const examples = join(PROJECT, 'examples');
  // In the repository, because a sandbox hides other folders.
  const recording = join(repository, 'recording');
  const replayed = [process.execPath, join(examples, 'recorded-agents/replay.mjs'), recording];
  const check = "process.exitCode = fs.readFileSync('greeting.mjs', 'utf8').includes('Hello') ? 0 : 1";
  const files = {
    'README.md': '# Shop\n',
    'files.schema.json': JSON.stringify({ type: 'object', required: ['artifacts'] }),
    'request.json': JSON.stringify({
      issue_ref: 'local#7',
      role: 'docs',
      repo_dir: repository,
      worker: 'greeter',
      instructions: 'Add a greeting.',
      checks: ['greets'],
    }),
    'sluice.config.json': JSON.stringify({
      programs: { codex: replayed },
      wrappers: { greeter: { type: 'script', command: [process.execPath, join(examples, 'agents/json-agent.mjs')] } },
      checks: { greets: { command: ['node', '-e', check] } },
    }),
  };
  await cp(join(examples, 'recorded-agents/codex'), recording, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(repository, name), text);
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', repository, ...args]);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '-m', 'Begin');
}

async function draw(name: string, args: readonly string[], maxLines: number): Promise<void> {
  const words = args.map((word) => (/\s/.test(word) ? `"${word}"` : word));
  const lines = [{ text: `$ sluice ${words.join(' ')}`, at: 0 }, ...(await record(args))];
  const output = lines.filter(({ text }) => !text.startsWith('sluice: data folder'));
  const shown = output.slice(0, maxLines).find(({ text }) => text.includes(PROJECT));
  if (shown !== undefined) throw new Error(`A picture must not show a path of this host: ${shown.text}`);
  await writeFile(
    join(FOLDER, `${name}.svg`),
    renderTerminal(`sluice ${name}, recorded in a terminal`, output, maxLines),
  );
  console.log(`docs/pictures/${name}.svg: ${output.length} lines`);
}

/** Runs a command in a terminal. Returns its lines, each with the time when it was complete. */
async function record(args: readonly string[]): Promise<readonly TerminalLine[]> {
  const start = performance.now();
  const program = spawn(process.execPath, [join(PROJECT, 'dist/cli/main.js'), ...args], {
    // Wide: the picture wraps lines itself.
    cols: 2000,
    rows: 200,
    cwd: repository,
    env: {
      ...process.env,
      NO_COLOR: '1',
      SLUICE_DATA: join(home, 'data'),
      SLUICE_CONFIG: join(repository, 'sluice.config.json'),
    },
  });
  const lines: TerminalLine[] = [];
  let rest = '';
  program.onData((data) => {
    const parts = (rest + data).split('\r\n');
    rest = parts.pop() ?? '';
    for (const text of parts) lines.push({ text: text.replaceAll(home, ''), at: performance.now() - start });
  });
  const timer = setTimeout(() => program.kill(), TIME_LIMIT_MS);
  const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => {
    program.onExit(resolve);
  });
  clearTimeout(timer);
  if (exitCode !== 0) throw new Error(`It failed:\n${lines.map(({ text }) => text).join('\n')}`);
  return lines;
}
