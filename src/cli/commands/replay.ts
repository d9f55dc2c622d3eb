import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { isSluiceError } from '../../base/index.js';
import type { RunResult } from '../../records/index.js';
import { PACKED_FOLDER, replayRunFolder } from '../../run-folder/index.js';
import type { ReplayResult } from '../../run-folder/index.js';
import type { EngineName } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { loadCommandConfig } from '../load-command-config.js';
import { printJson } from '../print.js';
import { withProgress } from '../progress.js';
import { formatLine } from '../terminal-text.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { collectWarnings, engineOption } from '../run-folder.js';

interface ReplayFlags extends ContextFlags {
  readonly engine?: EngineName | 'auto';
}

/** Adds `sluice replay` to the program. */
export function addReplayCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('replay'))
    .description('rebuild the events of a run folder and compare them with its logs, and its bytes with the database')
    .argument('<dir>', 'run folder, with its files in .audit or directly in it, or a packed run')
    .addOption(engineOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 identical, or recorded by an older version (the differences are printed), 1 different or altered after the run, 2 the folder is unreadable or has no logs.',
    )
    .action(async (dir: string, flags: ReplayFlags) => {
      end(await runReplay(dir, flags, io));
    });
}

async function runReplay(dir: string, flags: ReplayFlags, io: CommandIo): Promise<ExitCode> {
  const result = await replay(dir, flags, io);
  if (result.status === 'nothing_stored') {
    throw new MisuseError(`"${dir}" has no logs to compare with. Create them with: sluice translate ${dir} --write`);
  }
  await printJson(result, io);
  return result.status === 'different' || result.status === 'altered' ? EXIT.failed : EXIT.success;
}

/** Warnings are printed in any case: they may explain why the folder cannot be read. */
async function replay(dir: string, flags: ReplayFlags, io: CommandIo): Promise<ReplayResult> {
  const { engine } = flags;
  const warnings = collectWarnings();
  try {
    const captured = await findCaptured(dir, flags, io);
    return await withProgress(io, { label: 'replay', unit: 'bytes' }, async (onProgress) =>
      replayRunFolder(dir, {
        onWarning: warnings.add,
        onProgress,
        captured,
        ...(engine === undefined ? {} : { engine }),
      }),
    );
  } finally {
    await io.stderr.write(warnings.text());
  }
}

/** What the database says was captured; undefined where it does not know the run, or must not be asked. */
async function findCaptured(dir: string, flags: ReplayFlags, io: CommandIo): Promise<RunResult['captured']> {
  const config = await loadCommandConfig(flags, io).catch(async (error: unknown) => {
    if (!isSluiceError(error) || error.code !== 'CONFIG_NOT_TRUSTED') throw error;
    await io.stderr.write(formatLine(`${error.message} The bytes were not compared with the database.`));
    return undefined;
  });
  if (config === undefined || isMissing(config.database)) return undefined;
  const folder = await realpath(dir).catch(() => resolve(dir));
  const data = await realpath(config.data).catch(() => config.data);
  const run = basename(folder).replace(/\.zip$/u, '');
  const isPacked = dirname(dirname(folder)) === join(data, PACKED_FOLDER);
  if (dirname(folder) !== join(data, 'runs') && !isPacked) return undefined;
  const { openStore } = await import('../../store/index.js');
  const store = await openStore(config.database);
  try {
    return (await store.findRun(run))?.result?.captured;
  } finally {
    await store.close();
  }
}

/** A command that only compares creates no database. */
function isMissing(database: string): boolean {
  const file = /^sqlite:(?<file>.+)$/s.exec(database)?.groups?.['file'];
  return file !== undefined && !existsSync(file);
}
