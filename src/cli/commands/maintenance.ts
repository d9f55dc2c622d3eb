import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CommandIo } from '../command-io.js';
import { loadCommandConfig, compileKnownSecrets } from '../command-config.js';
import { EXIT, MisuseError, type ExitCode } from '../failure.js';
import { withContextOptions, withContext, type CommandContext } from '../command-context.js';
import {
  type ConfigFlags,
  examineConfig,
  findConfigFile,
  recordTrust,
  revokeTrust,
  openLocalToken,
  rotateLocalToken,
} from '../../server/config/index.js';
import { withProgress } from '../progress.js';
import { printJson } from '../print.js';
import { withInterruption } from '../interruption.js';
import { SluiceError } from '../../base/index.js';
import { isPresent, openNew } from '../../base/files/index.js';
import { openRunById } from '../read-input.js';

export function addBackupCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('backup'))
    .description('copy the SQLite database to a file, even while a server uses it, and verify the copy')
    .argument('<file>', 'file to create; an existing file is not overwritten')
    .addHelpText(
      'after',
      '\nRun folders are not included: copy them as files. docs/backup.md describes how to restore.',
    )
    .action(async (file: string, flags: ConfigFlags) => end(await runBackup(file, flags, io)));
}

async function runBackup(file: string, flags: ConfigFlags, io: CommandIo): Promise<ExitCode> {
  const { backUpStore } = await import('../../store/index.js');
  const { database } = await loadCommandConfig(flags, io);
  const backup = await withProgress(io, { label: 'backup', unit: 'bytes' }, async (set) =>
    backUpStore(database, file, { onProgress: ({ bytes, total }) => set(bytes, total) }),
  );
  await printJson(backup, io);
  return EXIT.success;
}

export function addMigrateCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('migrate')
    .description('copy a store from SQLite to PostgreSQL, or back, and compare every row')
    .argument('<source>', 'sqlite:FILE or postgres://…; it is left unchanged')
    .argument('<target>', 'an empty database or a new file of the other type')
    .addHelpText(
      'after',
      `
Stop all servers and workers first. If the command was interrupted, run it again: it continues.
Use PGPASSWORD to keep the password off the command line. Run folders are not included: copy them as files.`,
    )
    .action(async (source: string, target: string) => end(await runMigrate(source, target, io)));
}

async function runMigrate(source: string, target: string, io: CommandIo): Promise<ExitCode> {
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
}

interface ExportFlags extends ConfigFlags {
  readonly html?: boolean;
}

export function addExportCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('export'))
    .description('copy a run folder, for example as a test fixture, or export a run as one HTML file')
    .argument('<run>', 'id of the run')
    .argument('[target]', 'folder to create, or FILE.tar; with --html the file (default: RUN.html)')
    .option('--html', 'create one self-contained HTML file, for example for a bug report')
    .addHelpText('after', '\nUse sluice replay TARGET to compare its logs with the events that this version produces.')
    .action(async (run: string, target: string | undefined, flags: ExportFlags) =>
      end(await (flags.html === true ? runHtmlExport(run, target, flags, io) : runExport(run, target, flags, io))),
    );
}

async function runExport(
  run: string,
  target: string | undefined,
  flags: ExportFlags,
  io: CommandIo,
): Promise<ExitCode> {
  if (target === undefined)
    throw new MisuseError('No target given. Name the folder or the FILE.tar to create, or use --html.');
  const { exportRunFolder } = await import('../../server/index.js');
  const folder = await openRunById(await loadCommandConfig(flags, io), run);
  const exported = await withProgress(io, { label: 'export', unit: 'bytes' }, async (set) =>
    exportRunFolder({ folder, runId: run, target }, set),
  );
  await printJson(exported, io);
  return EXIT.success;
}

async function runHtmlExport(
  run: string,
  target: string | undefined,
  flags: ExportFlags,
  io: CommandIo,
): Promise<ExitCode> {
  const { renderRunReport } = await import('../../server/index.js');
  const file = resolve(target ?? `${run}.html`);
  if (await isPresent(file)) {
    throw new SluiceError('TARGET_EXISTS', `"${file}" already exists and was not changed. Choose another target.`);
  }
  const renderReport = async ({ store, config }: CommandContext): Promise<string> => {
    const secrets = await compileKnownSecrets(config);
    const { report, html } = await renderRunReport(
      { store, secrets, openFolder: async () => openRunById(config, run) },
      run,
    );
    if (report.record === undefined && report.problem !== undefined) throw new MisuseError(report.problem);
    return html;
  };
  const html = await withContext(flags, io, renderReport, { isReadOnly: true });
  const handle = await openNew(file);
  try {
    await handle.writeFile(html);
  } finally {
    await handle.close();
  }
  await printJson({ run_id: run, target: file, form: 'html' }, io);
  return EXIT.success;
}

interface TrustFlags {
  readonly revoke?: boolean;
}

export function addTrustCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('trust')
    .description('trust the current content of the configuration in this folder')
    .argument('[file]', 'configuration file (default: sluice.config.mjs or .json here)')
    .option('--revoke', 'stop trusting the configuration')
    .addHelpText(
      'after',
      '\nA configuration that runs code is used only if you trust it, and must be trusted again after every change. A file passed with' +
        '\n--config or SLUICE_CONFIG needs no trust. Files that a .mjs configuration imports are not covered: review them as well.',
    )
    .action(async (file: string | undefined, flags: TrustFlags) => end(await runTrust(file, flags, io)));
}

async function runTrust(path: string | undefined, { revoke }: TrustFlags, io: CommandIo): Promise<ExitCode> {
  const file = path === undefined ? await findConfigFile(process.cwd()) : resolve(path);
  if (file === null)
    throw new MisuseError("No sluice.config.mjs or sluice.config.json found in this folder. Pass the file's path.");
  if (revoke === true) {
    await revokeTrust(file, process.env);
    await printJson({ file, trusted: false }, io);
    return EXIT.success;
  }
  const content = await examineConfig(file);
  await recordTrust(content, process.env);
  await printJson({ ...content, trusted: true }, io);
  return EXIT.success;
}

export function addTokenCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  program
    .command('token')
    .description('print your token for local servers that have no tokens configured')
    .option('--rotate', 'replace the token; running servers accept the new token within seconds')
    .action(async ({ rotate }: { readonly rotate?: boolean }) => {
      const { value } = await (rotate === true ? rotateLocalToken : openLocalToken)(process.env);
      await io.stdout.write(`${value}\n`);
      end(EXIT.success);
    });
}
