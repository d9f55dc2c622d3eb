import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { isSluiceError } from '../../base/index.js';
import type { Config } from '../../server/config/index.js';
import type { RunResult } from '../../store/records/index.js';
import { PACKED_FOLDER, replayRunFolder } from '../../runs/run-folder/index.js';
import type { ReplayResult } from '../../runs/run-folder/index.js';
import type { EngineName } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode, MisuseError } from '../failure.js';
import { loadCommandConfig } from '../load-command-config.js';
import { openRunById } from '../open-run.js';
import { printJson } from '../print.js';
import { withProgress } from '../progress.js';
import { formatLine } from '../terminal-text.js';
import { withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { collectWarnings, createEngineOption } from '../run-folder.js';

interface ReplayFlags extends ContextFlags {
  readonly engine?: EngineName | 'auto';
}

export function addReplayCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('replay'))
    .description("check a run's logs against its recorded bytes, and the bytes against the database")
    .argument('<dir>', 'run folder (its files may be in .audit or directly in it), packed run, or run id')
    .addOption(createEngineOption())
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
    throw new MisuseError(`"${dir}" has no logs to compare with. Use sluice translate --write to create them.`);
  }
  await printJson(result, io);
  return result.status === 'different' || result.status === 'altered' ? EXIT.failed : EXIT.success;
}

/** Prints the warnings even after an error: they might explain why the folder cannot be read. */
async function replay(dir: string, flags: ReplayFlags, io: CommandIo): Promise<ReplayResult> {
  const { engine } = flags;
  const warnings = collectWarnings();
  try {
    const config = await loadTrustedConfig(flags, io);
    const isPath = config === undefined || existsSync(dir) || dir.includes('/');
    const run = isPath ? dir : await openRunById(config, dir);
    const id = isPath && config !== undefined ? await findRunId(dir, config.data) : dir;
    const captured = config === undefined || id === undefined ? undefined : await findCapturedStreams(id, config);
    return await withProgress(io, { label: 'replay', unit: 'bytes' }, async (onProgress) =>
      replayRunFolder(run, {
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

/** Loads the configuration; undefined if it is not trusted, because a folder can be replayed without it. */
async function loadTrustedConfig(flags: ReplayFlags, io: CommandIo): Promise<Config | undefined> {
  return loadCommandConfig(flags, io).catch(async (error: unknown) => {
    if (!isSluiceError(error) || error.code !== 'CONFIG_NOT_TRUSTED') throw error;
    await io.stderr.write(formatLine(`The bytes are not compared with the database. ${error.message}`));
    return undefined;
  });
}

/** Returns the run id for a path in the data folder; undefined for other paths. */
async function findRunId(path: string, folder: string): Promise<string | undefined> {
  const realFolder = await realpath(path).catch(() => resolve(path));
  const data = await realpath(folder).catch(() => folder);
  const isPacked = dirname(dirname(realFolder)) === join(data, PACKED_FOLDER);
  if (dirname(realFolder) !== join(data, 'runs') && !isPacked) return undefined;
  return basename(realFolder).replace(/\.zip$/u, '');
}

/** Reads the sizes and hashes of the captured streams from the database; undefined if the run is not there. */
async function findCapturedStreams(run: string, { database }: Config): Promise<RunResult['captured']> {
  if (isMissing(database)) return undefined;
  const { openStore } = await import('../../store/index.js');
  const store = await openStore(database);
  try {
    return (await store.findRun(run))?.result?.captured;
  } finally {
    await store.close();
  }
}

/** Checked first, because opening a missing database would create it. */
function isMissing(database: string): boolean {
  const file = /^sqlite:(?<file>.+)$/s.exec(database)?.groups?.['file'];
  return file !== undefined && !existsSync(file);
}
