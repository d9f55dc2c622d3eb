import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { parseJson, findExecutable, makeFolder, openNew } from '../../base/files/index.js';
import { getErrorCode } from '../../base/index.js';
import { examineConfig, recordTrust } from '../../server/config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { printJson } from '../print.js';

const CONFIG_FILE = 'sluice.config.json';
const REQUEST_FILE = 'request.json';

/** Wrapper types of agents that need no command, and the executables to look for; the first is the default. */
const AGENTS: Readonly<Record<string, string>> = {
  'codex-cli': 'codex',
  'claude-code': 'claude',
  'gemini-cli': 'gemini',
  'qwen-code': 'qwen',
  'opencode-cli': 'opencode',
  'copilot-cli': 'copilot',
};

export function addInitCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('init')
    .description('create a configuration and a first request, from three questions')
    .argument('[dir]', 'folder to create them in', '.')
    .option('--yes', 'use the suggested answers instead of asking')
    .action(async (folder: string, { yes = false }: { readonly yes?: boolean }) =>
      end(await runInit(resolve(process.cwd(), folder), yes, io)),
    );
}

interface Answers {
  readonly agent: string;
  /** The command that checks the agent's work; empty for none. */
  readonly check: readonly string[];
  /** The folder that requests to the server may use. */
  readonly root: string;
}

async function runInit(folder: string, isUnasked: boolean, io: CommandIo): Promise<ExitCode> {
  if (!isUnasked && io.ask === undefined)
    throw new MisuseError('There is no terminal to ask at. Use --yes for the suggested answers.');
  const suggested: Answers = { agent: await suggestAgent(folder), check: await suggestCheck(folder), root: '.' };
  const answers = isUnasked || io.ask === undefined ? suggested : await askForAnswers(suggested, io.ask);
  await makeFolder(folder);
  const config = join(folder, CONFIG_FILE);
  await createFile(config, renderConfig(answers));
  try {
    await createFile(join(folder, REQUEST_FILE), renderRequest(answers, folder));
  } catch (error) {
    await rm(config, { force: true });
    throw error;
  }
  // The user has just chosen its content.
  await recordTrust(await examineConfig(config), process.env);
  await printJson({ created: [CONFIG_FILE, REQUEST_FILE], ...answers }, io);
  const next = [`sluice doctor`, `sluice order ${REQUEST_FILE}`, 'sluice serve'].map((line) => `\n  ${line}`).join('');
  await io.stderr.write(`Edit ${REQUEST_FILE}, then run:${next}\nAfter a change of ${CONFIG_FILE}: sluice trust\n`);
  return EXIT.success;
}

/** Suggests the first agent that is installed. */
async function suggestAgent(cwd: string): Promise<string> {
  for (const [type, program] of Object.entries(AGENTS)) {
    if ((await findExecutable(program, { path: process.env['PATH'] ?? '', cwd })) !== undefined) return type;
  }
  return Object.keys(AGENTS)[0] ?? '';
}

/** Suggests `npm test` if the folder's package has tests. */
async function suggestCheck(folder: string): Promise<readonly string[]> {
  const manifest = parseJson(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''));
  const scripts: unknown = typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'scripts') : null;
  return typeof scripts === 'object' && scripts !== null && 'test' in scripts ? ['npm', 'test'] : [];
}

async function askForAnswers(suggested: Answers, ask: NonNullable<CommandIo['ask']>): Promise<Answers> {
  const askOr = async (question: string, suggestion: string): Promise<string> =>
    (await ask(`${question} [${suggestion || 'none'}] `)).trim() || suggestion;
  const types = Object.keys(AGENTS);
  const named = await askOr(`Which agent shall do the work? (${types.join(', ')})`, suggested.agent);
  const agent = types.find((type) => type === named || AGENTS[type] === named);
  if (agent === undefined) throw new MisuseError(`There is no agent "${named}". Use one of: ${types.join(', ')}.`);
  const check = await askOr('Which command checks its work?', suggested.check.join(' '));
  const root = await askOr('Which folder may requests to the server use?', suggested.root);
  return { agent, check: check.split(/\s+/).filter((word) => word !== ''), root };
}

async function createFile(path: string, content: string): Promise<void> {
  const file = await openNew(path).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
    throw new MisuseError(`"${path}" already exists. Edit it, or remove it and run this command again.`);
  });
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

function renderConfig({ check, root }: Answers): string {
  const checks = check.length === 0 ? {} : { test: { command: check } };
  return `{
  // Editors use the schema to complete and check this file. docs/configuration.md describes every setting.
  "$schema": "./node_modules/sluice/schemas/config.json",

  // Commands that Sluice itself runs, in a sandbox, to check what an agent did. Orders name them in "checks".
  "checks": ${JSON.stringify(checks)},

  // Folders that requests to the server may use, and executables that they may start with the engine "command".
  "roots": ${JSON.stringify([root])},
  "commands": [],

  // How often an order is queued again if its worker dies on this host. After that, a human decides.
  "retries": { "worker_lost": 1 }
}
`;
}

function renderRequest({ agent, check }: Answers, folder: string): string {
  const request = {
    issue_ref: 'local#1',
    role: 'dev',
    repo_dir: folder,
    worker: agent,
    ...(check.length === 0 ? {} : { checks: ['test'] }),
    instructions: 'Add a section "Development" to README.md that says how to run the tests.',
  };
  return `${JSON.stringify(request, null, 2)}\n`;
}
