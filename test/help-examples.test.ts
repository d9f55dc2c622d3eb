import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { COMMAND_EXAMPLES } from '../src/cli/command-examples.js';

const MAIN = join(PROJECT, 'dist/cli/main.js');
const SCHEMA = {
  type: 'object',
  properties: { file: { type: 'string' }, line: { type: 'integer' } },
  required: ['file', 'line'],
};
const ANSWER = '<think>Hm.</think> Sure: <json>{"file": "a.ts", "line": 3,}</json>';
/** An agent that knows one answer, in the words of Codex. */
const CODEX = `
if (process.argv.includes('--version')) { console.log('codex-cli 0.166.0'); process.exit(0); }
for (const record of [
  { type: 'thread.started', thread_id: 't-1' },
  { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: ${JSON.stringify(ANSWER)} } },
  { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
]) console.log(JSON.stringify(record));`;
const WORKER = join(PROJECT, 'examples/workers/json-worker.mjs');

const folder = mkdtempSync(join(tmpdir(), 'sluice-help-'));
const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` };

/** Types a line into bash, where the examples' files are. */
function type(line: string): { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { cwd: folder, env, encoding: 'utf8' });
  return { exitCode: status, stdout, stderr };
}

function writeProgram(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
  chmodSync(join(folder, path), 0o755);
}

/** With the ids of a run and of an item for the words that stand for them. */
function fillIn(line: string): string {
  if (line.includes('RUN')) return line.replaceAll('RUN', readdirSync(join(folder, '.sluice/runs')).at(-1) ?? '');
  if (!line.includes('ITEM')) return line;
  const [item] = JSON.parse(type('sluice inbox --json').stdout) as { readonly id: string }[];
  return line.replaceAll('ITEM', item?.id ?? '');
}

/** Starts what goes on until Ctrl-C, presses that when it has said something, and waits. */
async function interrupt(line: string): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  // Any free port: the one of the example may be taken here.
  const [, ...args] = line.replace(/--port \d+/, '--port 0').split(' ');
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // The server says its address on stdout when it is ready, a worker that it started on stderr.
  (args[0] === 'worker' ? child.stderr : child.stdout).once('data', () => child.kill('SIGINT'));
  return new Promise((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, stderr }));
  });
}

beforeAll(() => {
  mkdirSync(join(folder, 'bin'));
  writeProgram('bin/sluice', `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  writeProgram('bin/codex', `#!${process.execPath}\n${CODEX}\n`);
  writeProgram('some-agent', `#!/bin/sh\necho '${ANSWER}'\n`);
  writeFileSync(join(folder, 'answer.txt'), ANSWER);
  writeFileSync(join(folder, 'broken.json'), "{a: 'b',}");
  writeFileSync(join(folder, 'issue.schema.json'), JSON.stringify(SCHEMA));
  const wrappers = { greeter: { type: 'script', command: [process.execPath, WORKER], inject: 'file' } };
  writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify({ wrappers }));
  const request = {
    issue_ref: 'local#1',
    role: 'backend',
    repo_dir: folder,
    worker: 'greeter',
    instructions: 'Greet.',
  };
  writeFileSync(join(folder, 'request.json'), JSON.stringify(request));
  type('sluice demo && sluice run --engine codex Hello');
}, 60_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the examples in the help', () => {
  const examples = Object.entries(COMMAND_EXAMPLES).flatMap(([command, list]) =>
    list.map(({ line, does }) => ({ command, line, does })),
  );

  it('are there for every command, and are shown', () => {
    const named = [...type('sluice --help').stdout.matchAll(/^ {2}([a-z]+) [[<]|^ {2}([a-z]+) {2}/gm)];
    const commands = named.map(([, first, second]) => first ?? second ?? '').filter((name) => name !== 'help');
    expect(Object.keys(COMMAND_EXAMPLES).toSorted()).toEqual(commands.toSorted());
    expect(type('sluice parse --help').stdout).toContain(`  ${COMMAND_EXAMPLES['parse']?.[0]?.line}\n`);
  });

  it.each(examples)('$line', async ({ command, line }) => {
    const isLong = command === 'serve' || command === 'worker';
    const { exitCode, stderr } = isLong ? await interrupt(line) : type(fillIn(line));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  });
});
