import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import {
  RunFolderError,
  rewriteRunLogs,
  translateRunFolder,
  PACKED_FOLDER,
  replayRunFolder,
  type RunFolder,
  type ReplayOptions,
  type ReplayResult,
  type RunFolderWarning,
} from '../../runs/run-folder/index.js';
import { createAcpProjection, createAgUiProjection, ENGINE_NAMES } from '../../events/index.js';
import type { Emitted, Projection } from '../../events/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, MisuseError } from '../failure.js';
import { withInterruption } from '../interruption.js';
import { withProgress } from '../progress.js';
import { loadCommandConfig } from '../command-config.js';
import { openRunById } from '../read-input.js';
import { CONTEXT_OPTIONS } from '../command-context.js';
import { defineCommand } from '../command.js';
import { findDatabaseFile, type Config, type ConfigFlags } from '../../server/config/index.js';
import { escapeControls, printJson } from '../print.js';
import { isSluiceError, omitUndefined } from '../../base/index.js';
import { readEventLog } from '../../store/ports/index.js';
import { formatLine } from '../terminal-text.js';

type Protocol = 'rasp' | 'fcmp' | 'agui' | 'acp';

const FOLDER = { '<dir>': 'run folder (its files may be in .audit or directly in it), packed run, or run id' } as const;
const ENGINE_OPTION = {
  '--engine <name>': [
    'engine that produced the output (default: as recorded in the folder)',
    [...ENGINE_NAMES, 'auto'] as const,
  ],
} as const;

export const addTranslateCommand = defineCommand('translate', {
  summary: "print a run folder's events as JSON lines",
  args: FOLDER,
  options: {
    ...CONTEXT_OPTIONS,
    ...ENGINE_OPTION,
    '--attempt <n>': ['only this attempt', parseAttempt],
    '--to <protocol>': ['protocol to print', { choices: ['rasp', 'fcmp', 'agui', 'acp'], default: 'fcmp' }],
    '--write': 'also rewrite events.jsonl, fcmp.jsonl and parser_diagnostics.jsonl',
    '--follow': 'print new events as they arrive, until the attempt has ended or Ctrl-C',
  },
  notes: 'Exit codes: 0 success (also after Ctrl-C), 2 unreadable folder or usage error.',
  async run({ dir, engine, attempt, to, write = false, follow = false, ...flags }, io) {
    if (write && (follow || attempt !== undefined))
      throw new MisuseError('--write rebuilds the logs of a complete run. Omit --follow and --attempt.');
    const run = existsSync(dir) || dir.includes('/') ? dir : await openRunById(await loadCommandConfig(flags, io), dir);
    const warnings = collectWarnings();
    const options = { onWarning: warnings.add, ...omitUndefined({ engine, attempt }) };
    try {
      if (follow)
        await withInterruption(async (signal) =>
          print(translateRunFolder(run, { ...options, follow: signal }), { to, interrupted: signal }, io),
        );
      else {
        // At a terminal the printed events are the progress.
        const progressIo = io.stdout.isTerminal ? { stderr: { ...io.stderr, isTerminal: false } } : io;
        await withProgress(progressIo, { label: 'translate', unit: 'bytes' }, async (onProgress) => {
          const all = { ...options, onProgress };
          return print(write ? rewriteRunLogs(getFolder(run), all) : translateRunFolder(run, all), { to, write }, io);
        });
      }
    } finally {
      await io.stderr.write(warnings.text());
    }
  },
});

function getFolder(run: string | RunFolder): string {
  if (typeof run === 'string') return run;
  if (run.dir !== undefined) return run.dir;
  const message = `"${run.place}" is a packed run, which is never changed. Copy it to a folder with sluice export.`;
  throw new RunFolderError('RUN_PACKED', message);
}

function parseAttempt(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('Use an attempt number, starting at 1.');
  return Number(value);
}

/** Characters per write: a write is much slower than formatting a line. */
const BATCH_LENGTH = 64 * 1024;

interface PrintOptions {
  readonly to: Protocol;
  /** Continues after the reader has closed the pipe, to finish the logs. */
  readonly write?: boolean;
  /** Set for events that arrive one by one: each is printed at once. */
  readonly interrupted?: AbortSignal;
}

/** Prints many lines with one write, unless they arrive one by one. */
async function print(
  events: AsyncIterable<Emitted>,
  { to, write = false, interrupted }: PrintOptions,
  io: CommandIo,
): Promise<void> {
  const encoder = createEncoder(to);
  const isGone = (): boolean => io.stdout.isGone?.() === true;
  const batchLength = interrupted === undefined ? BATCH_LENGTH : 1;
  let text = '';
  for await (const emitted of events) {
    if (isGone()) {
      if (write) continue;
      return;
    }
    text += renderLines(encoder.push(emitted));
    if (text.length >= batchLength) {
      await io.stdout.write(text);
      text = '';
    }
    // Not when the next event arrives, which can take long.
    if (interrupted !== undefined && isGone()) return;
  }
  // After an interruption the end of the run is unknown, so no end events are printed.
  if (interrupted?.aborted !== true) await io.stdout.write(text + renderLines(encoder.end()));
}

interface Encoder {
  push(emitted: Emitted): readonly object[];
  end(): readonly object[];
}

function createEncoder(to: Protocol): Encoder {
  switch (to) {
    case 'rasp':
    case 'fcmp':
      return { push: ({ protocol, event }) => (protocol === to ? [event] : []), end: () => [] };
    case 'agui':
      return encodeWith(createAgUiProjection());
    case 'acp':
      return encodeWith(createAcpProjection());
  }
}

function encodeWith(projection: Projection<object>): Encoder {
  return {
    push: (emitted) => (emitted.protocol === 'fcmp' ? projection.push(emitted.event) : []),
    end: () => projection.end(),
  };
}

/** Uses `JSON.stringify`, which is many times faster than `renderJson`: events contain no bigints. */
function renderLines(values: readonly object[]): string {
  let lines = '';
  for (const value of values) lines += `${escapeControls(JSON.stringify(value))}\n`;
  return lines;
}

export const addReplayCommand = defineCommand('replay', {
  summary: "check a run's events against its recorded bytes, and the bytes against the database",
  args: FOLDER,
  options: { ...CONTEXT_OPTIONS, ...ENGINE_OPTION },
  notes:
    'Exit codes: 0 identical, unfinished (the run was killed), or recorded by an older version (the differences are printed), 1 different or altered after the run, 2 the folder is unreadable or has no logs.',
  async run({ dir, engine, ...flags }, io) {
    const result = await replay(dir, omitUndefined({ engine }), flags, io);
    if (result.status === 'nothing_stored')
      throw new MisuseError(
        `"${dir}" has no logs to compare with, and its events are not in the database. Use sluice translate --write to create the logs; for a packed run, sluice export does.`,
      );
    await printJson(result, io);
    return result.status === 'different' || result.status === 'altered' ? EXIT.failed : EXIT.success;
  },
});

/** Prints the warnings even after an error: they might explain why the folder cannot be read. */
async function replay(
  dir: string,
  options: Pick<ReplayOptions, 'engine'>,
  flags: ConfigFlags,
  io: CommandIo,
): Promise<ReplayResult> {
  const warnings = collectWarnings();
  try {
    const config = await loadTrustedConfig(flags, io);
    const isPath = config === undefined || existsSync(dir) || dir.includes('/');
    const run = isPath ? dir : await openRunById(config, dir);
    const id = isPath && config !== undefined ? await findRunId(dir, config.data) : dir;
    return await withRunInStore(id, config, async (stored) =>
      withProgress(io, { label: 'replay', unit: 'bytes' }, async (onProgress) =>
        replayRunFolder(run, { onWarning: warnings.add, onProgress, ...stored, ...options }),
      ),
    );
  } finally {
    await io.stderr.write(warnings.text());
  }
}

/** Loads the configuration; undefined if it is not trusted, because a folder can be replayed without it. */
async function loadTrustedConfig(flags: ConfigFlags, io: CommandIo): Promise<Config | undefined> {
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

/** Calls `use` with what the database has of a run: its events, and the sizes and hashes of its captured streams. */
async function withRunInStore<Result>(
  runId: string | undefined,
  config: Config | undefined,
  use: (stored: Pick<ReplayOptions, 'captured' | 'storedEvents'>) => Promise<Result>,
): Promise<Result> {
  const file = config === undefined ? undefined : findDatabaseFile(config.database);
  // Opening a missing database would create it.
  if (runId === undefined || config === undefined || (file !== undefined && !existsSync(file))) return use({});
  const { openStore } = await import('../../store/index.js');
  const store = await openStore(config.database);
  try {
    const record = await store.findRun(runId);
    const [first] = await store.read({ runId, protocol: 'rasp', limit: 1 });
    const storedEvents = (protocol: Emitted['protocol']) => readEventLog(store, runId, protocol);
    // Retention deletes a run's events before its record.
    return await use({
      captured: record?.result?.captured,
      storedEvents: first === undefined ? undefined : storedEvents,
    });
  } finally {
    await store.close();
  }
}

/** A damaged folder can cause one warning per line. */
const MAX_WARNINGS = 20;

export function collectWarnings(): { readonly add: (warning: RunFolderWarning) => void; readonly text: () => string } {
  const lines: string[] = [];
  let omitted = 0;
  return {
    add({ code, message }) {
      if (lines.length < MAX_WARNINGS) lines.push(formatLine(`warning ${code}: ${message}`));
      else omitted += 1;
    },
    text: () =>
      lines.join('') +
      (omitted === 0 ? '' : formatLine(`${omitted} more ${omitted === 1 ? 'warning' : 'warnings'} omitted.`)),
  };
}
