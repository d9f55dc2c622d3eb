import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SluiceError } from '../../base/index.js';
import { isPresent, openNew, VERSION } from '../../base/files/index.js';
import type { CommandIo } from '../command-io.js';
import { compileKnownSecrets } from '../known-secrets.js';
import { loadCommandConfig } from '../load-command-config.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { openRunById } from '../open-run.js';
import { printJson } from '../print.js';
import { withProgress } from '../progress.js';

interface ExportFlags extends ContextFlags {
  readonly html?: boolean;
}

export function addExportCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('export'))
    .description('copy a run folder, for example as a test fixture, or export a run as one HTML file')
    .argument('<run>', 'id of the run')
    .argument('[target]', 'folder to create, or FILE.tar; with --html the file (default: RUN.html)')
    .option('--html', 'create one self-contained HTML file, for example for a bug report')
    .addHelpText('after', '\nUse sluice replay TARGET to compare its logs with the events that this version produces.')
    .action(async (run: string, target: string | undefined, flags: ExportFlags) => {
      end(await (flags.html === true ? runHtmlExport(run, target, flags, io) : runExport(run, target, flags, io)));
    });
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
  const [{ gatherReport, renderHtml }, { readReportRecords }] = await Promise.all([
    import('../../server/report/index.js'),
    import('../../server/index.js'),
  ]);
  const file = resolve(target ?? `${run}.html`);
  if (await isPresent(file)) {
    throw new SluiceError('EXPORT_EXISTS', `"${file}" already exists and was not changed. Choose another target.`);
  }
  const html = await withContext(
    flags,
    io,
    async ({ store, config }) => {
      const secrets = await compileKnownSecrets(config);
      const source = {
        openFolder: async () => openRunById(config, run),
        mask: (bytes: Uint8Array) => secrets.mask(bytes),
      };
      const report = await gatherReport(source, await readReportRecords(store, run));
      if (report.record === undefined && report.problem !== undefined) throw new MisuseError(report.problem);
      return renderHtml(report, { version: VERSION, maskText: (text) => secrets.maskText(text) });
    },
    { isReadOnly: true },
  );
  const handle = await openNew(file);
  try {
    await handle.writeFile(html);
  } finally {
    await handle.close();
  }
  await printJson({ run_id: run, target: file, form: 'html' }, io);
  return EXIT.success;
}
