import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../scripts/run-tool.js';
import { COMMAND_EXAMPLES } from '../src/cli/run.js';
import { findProjectData } from '../src/base/files/index.js';
import { ANSWER, prepareStage } from './command-stage.js';
import { startCommand } from './start-command.js';

const SCHEMA = {
  type: 'object',
  properties: { file: { type: 'string' }, line: { type: 'integer' } },
  required: ['file', 'line'],
};
const AGENT = join(PROJECT, 'examples/agents/json-agent.mjs');

const { folder, env, write, type } = prepareStage(mkdtempSync(join(tmpdir(), 'sluice-help-')));

/** Replaces placeholders with the ids of a run and an item. */
function fillIn(line: string): string {
  if (line.includes('RUN')) {
    const runs = join(findProjectData(folder, env), 'runs');
    const id = readdirSync(runs).at(-1) ?? '';
    return line.replaceAll('RUN_FOLDER', join(runs, id)).replaceAll('RUN', id);
  }
  if (!line.includes('ITEM')) return line;
  const [item] = JSON.parse(type('sluice inbox --json').stdout) as { readonly id: string }[];
  return line.replaceAll('ITEM', item?.id ?? '');
}

/** Starts a command that runs until Ctrl-C, interrupts it after its first output, and waits. */
async function interrupt(line: string): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  // Any free port, because the example's port might be in use here.
  const [, ...args] = line.replace(/--port \d+/, '--port 0').split(' ');
  const { child, printed, exitCode } = startCommand(args, folder, env);
  // When it is ready, the server prints its address to stdout, and a worker logs its start to stderr.
  (args[0] === 'worker' ? child.stderr : child.stdout).once('data', () => child.kill('SIGINT'));
  return { exitCode: await exitCode, stderr: printed.stderr };
}

beforeAll(() => {
  write('answer.txt', ANSWER);
  write('broken.json', "{a: 'b',}");
  write('issue.schema.json', JSON.stringify(SCHEMA));
  const wrappers = { greeter: { type: 'script', command: [process.execPath, AGENT], inject: 'file' } };
  write('sluice.config.json', JSON.stringify({ wrappers }));
  const request = {
    issue_ref: 'local#1',
    role: 'backend',
    repo_dir: folder,
    worker: 'greeter',
    instructions: 'Greet.',
  };
  write('request.json', JSON.stringify(request));
  type('sluice trust && sluice demo && sluice run --engine codex Hello');
}, 300_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the examples in the help', () => {
  const examples = Object.entries(COMMAND_EXAMPLES).flatMap(([command, list]) =>
    Object.entries(list).map(([line, description]) => ({ command, line, description })),
  );

  it('exist for every command, and are shown', () => {
    const namedCommands = [...type('sluice --help').stdout.matchAll(/^ {2}([a-z]+) [[<]|^ {2}([a-z]+) {2}/gm)];
    const commands = namedCommands.map(([, first, second]) => first ?? second ?? '').filter((name) => name !== 'help');
    expect(Object.keys(COMMAND_EXAMPLES).toSorted()).toEqual(commands.toSorted());
    expect(type('sluice parse --help').stdout).toContain(`  ${Object.keys(COMMAND_EXAMPLES['parse'] ?? {})[0]}\n`);
  });

  it.each(examples)('$line', async ({ command, line }) => {
    const isLong = command === 'serve' || command === 'worker';
    const { exitCode, stderr } = isLong ? await interrupt(line) : type(fillIn(line));
    // No run in these examples waits for an answer: the command is accepted and reports that.
    const refusal = { exitCode: 2, stderr: expect.stringContaining('is not waiting for permission') };
    // There is no PostgreSQL here: the command is accepted, and checks its source first.
    const noSource = { exitCode: 2, stderr: expect.stringContaining('Cannot find the database') };
    const success = { exitCode: 0, stderr: expect.any(String) };
    const expected: Readonly<Record<string, object>> = { reply: refusal, migrate: noSource };
    expect({ exitCode, stderr }).toEqual(expected[command] ?? success);
  });
});
