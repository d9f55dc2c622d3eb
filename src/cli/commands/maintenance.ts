import { resolve, join } from 'node:path';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig, compileKnownSecrets } from '../command-config.js';
import { EXIT, MisuseError } from '../failure.js';
import { CONTEXT_OPTIONS, readRecords } from '../command-context.js';
import { defineCommand } from '../command.js';
import {
  type ConfigFlags,
  examineConfig,
  getMember,
  findConfigFile,
  recordTrust,
  revokeTrust,
  openLocalToken,
  rotateLocalToken,
} from '../../server/config/index.js';
import { withProgress } from '../progress.js';
import { printJson } from '../print.js';
import { withInterruption } from '../interruption.js';
import { SluiceError, getErrorCode } from '../../base/index.js';
import { isPresent, parseJson, findExecutable, makeFolder } from '../../base/files/index.js';
import { openRunById } from '../read-input.js';
import { readFile, rm, writeFile } from 'node:fs/promises';

export const addBackupCommand = defineCommand('backup', {
  summary: 'copy the SQLite database to a file, even while a server uses it, and verify the copy',
  args: { '<file>': 'file to create; an existing file is not overwritten' },
  options: CONTEXT_OPTIONS,
  notes: 'Run folders are not included: copy them as files. docs/backup.md describes how to restore.',
  async run({ file, ...flags }, io) {
    const { backUpStore } = await import('../../store/index.js');
    const { database } = await loadCommandConfig(flags, io);
    const backup = await withProgress(io, { label: 'backup', unit: 'bytes' }, async (set) =>
      backUpStore(database, file, { onProgress: ({ bytes, total }) => set(bytes, total) }),
    );
    await printJson(backup, io);
  },
});

export const addMigrateCommand = defineCommand('migrate', {
  summary: 'copy a store from SQLite to PostgreSQL, or back, and compare every row',
  args: {
    '<source>': 'sqlite:FILE or postgres://…; it is left unchanged',
    '<target>': 'an empty database or a new file of the other type',
  },
  notes: `Stop all servers and workers first. If the command was interrupted, run it again: it continues.
Use PGPASSWORD to keep the password off the command line. Run folders are not included: copy them as files.`,
  async run({ source, target }, io) {
    const { migrateStore } = await import('../../store/index.js');
    return withInterruption(async (signal) => {
      try {
        const report = await withProgress(io, { label: 'migrate', unit: 'rows' }, async (set) =>
          migrateStore(source, target, { onProgress: ({ table, rows, total }) => set(rows, total, table), signal }),
        );
        await printJson(report, io);
        return EXIT.success;
      } catch (error) {
        if (!signal.aborted) throw error;
        await io.stderr.write('Interrupted. Run the same command again to continue.\n');
        return EXIT.canceled;
      }
    });
  },
});

export const addExportCommand = defineCommand('export', {
  summary: 'copy a run folder, for example as a test fixture, or export a run as one HTML file',
  args: {
    '<run>': 'id of the run',
    '[target]': 'folder to create, or FILE.tar; with --html the file (default: RUN.html)',
  },
  options: {
    ...CONTEXT_OPTIONS,
    '--html': 'create one self-contained HTML file, for example for a bug report',
  },
  notes: 'Use sluice replay TARGET to compare its logs with the events that this version produces.',
  async run({ run, target, html, ...flags }, io) {
    if (html === true) return exportHtml(run, resolve(target ?? `${run}.html`), flags, io);
    if (target === undefined)
      throw new MisuseError('No target given. Name the folder or the FILE.tar to create, or use --html.');
    const { exportRunFolder } = await import('../../server/index.js');
    const folder = await openRunById(await loadCommandConfig(flags, io), run);
    const exported = await withProgress(io, { label: 'export', unit: 'bytes' }, async (set) =>
      exportRunFolder({ folder, runId: run, target }, set),
    );
    return printJson(exported, io);
  },
});

async function exportHtml(run: string, file: string, flags: ConfigFlags, io: CommandIo): Promise<void> {
  const { renderRunReport } = await import('../../server/index.js');
  if (await isPresent(file))
    throw new SluiceError('TARGET_EXISTS', `"${file}" already exists and was not changed. Choose another target.`);
  const { report, html } = await readRecords(flags, io, async ({ store, config }) => {
    const secrets = await compileKnownSecrets(config);
    return renderRunReport({ store, secrets, openFolder: async () => openRunById(config, run) }, run);
  });
  if (report.record === undefined && report.problem !== undefined) throw new MisuseError(report.problem);
  await writeFile(file, html, { flag: 'wx' });
  await printJson({ run_id: run, target: file, form: 'html' }, io);
}

export const addTrustCommand = defineCommand('trust', {
  summary: 'trust the current content of the configuration in this folder',
  args: { '[file]': 'configuration file (default: sluice.config.mjs or .json here)' },
  options: { '--revoke': 'stop trusting the configuration' },
  notes:
    'A configuration that runs code is used only if you trust it, and must be trusted again after every change. A file passed with' +
    '\n--config or SLUICE_CONFIG needs no trust. Files that a .mjs configuration imports are not covered: review them as well.',
  async run({ file: path, revoke }, io) {
    const file = path === undefined ? await findConfigFile(process.cwd()) : resolve(path);
    if (file === null)
      throw new MisuseError("No sluice.config.mjs or sluice.config.json found in this folder. Pass the file's path.");
    if (revoke === true) {
      await revokeTrust(file, process.env);
      return printJson({ file, trusted: false }, io);
    }
    const content = await examineConfig(file);
    await recordTrust(content, process.env);
    return printJson({ ...content, trusted: true }, io);
  },
});

export const addTokenCommand = defineCommand('token', {
  summary: 'print your token for local servers that have no tokens configured',
  options: { '--rotate': 'replace the token; running servers accept the new token within seconds' },
  async run({ rotate }, io) {
    const { value } = await (rotate === true ? rotateLocalToken : openLocalToken)(process.env);
    await io.stdout.write(`${value}\n`);
  },
});

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

export const addInitCommand = defineCommand('init', {
  summary: 'create a configuration and a first request, from three questions',
  args: { '[dir]': ['folder to create them in', { default: '.' }] },
  options: { '--yes': 'use the suggested answers instead of asking' },
  async run({ dir, yes: isUnasked = false }, io) {
    const folder = resolve(dir);
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
    const next = ['sluice doctor', `sluice order ${REQUEST_FILE}`, 'sluice serve']
      .map((line) => `\n  ${line}`)
      .join('');
    await io.stderr.write(`Edit ${REQUEST_FILE}, then run:${next}\nAfter a change of ${CONFIG_FILE}: sluice trust\n`);
  },
});

interface Answers {
  readonly agent: string;
  /** The command that checks the agent's work; empty for none. */
  readonly check: readonly string[];
  /** The folder that requests to the server may use. */
  readonly root: string;
}

async function suggestAgent(cwd: string): Promise<string> {
  for (const [type, program] of Object.entries(AGENTS)) {
    if ((await findExecutable(program, { path: process.env['PATH'] ?? '', cwd })) !== undefined) return type;
  }
  return Object.keys(AGENTS)[0] ?? '';
}

/** Suggests `npm test` if the folder's package has tests. */
async function suggestCheck(folder: string): Promise<readonly string[]> {
  const manifest = parseJson(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''));
  return getMember(getMember(manifest, 'scripts'), 'test') === undefined ? [] : ['npm', 'test'];
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
  await writeFile(path, content, { flag: 'wx' }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EEXIST') throw error;
    throw new MisuseError(`"${path}" already exists. Edit it, or remove it and run this command again.`);
  });
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
