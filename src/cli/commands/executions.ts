import { omitUndefined } from '../../base/index.js';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Decision, ExecutionRecord } from '../../store/records/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../failure.js';
import { formatExecutionHeading, formatExecutionRow } from '../../server/index.js';
import { withContext, withContextOptions } from '../command-context.js';
import type { ContextFlags } from '../command-context.js';
import { createLimitOption, parseTime, readPages } from '../list-options.js';
import { printRows } from '../print.js';

interface ExecutionsFlags extends ContextFlags {
  readonly issue?: string;
  readonly run?: string;
  readonly worker?: string;
  readonly decision?: Decision['action'];
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

export function addExecutionsCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withContextOptions(program.command('executions'))
    .description('list executions and their decisions, newest first')
    .option('--issue <ref>', 'only this issue')
    .option('--run <id>', 'only this run')
    .option('--worker <name>', 'only orders for this wrapper')
    .addOption(
      new Option('--decision <action>', 'only this decision').choices(['advance', 'archive', 'needs-human', 'blocked']),
    )
    .addOption(new Option('--since <time>', 'from this time: 2026-11-15 or 2026-11-15T08:00:00Z').argParser(parseTime))
    .addOption(new Option('--until <time>', 'before this time').argParser(parseTime))
    .addOption(createLimitOption())
    .option('--json', 'print all fields as a JSON array, even at a terminal')
    .addOption(new Option('--csv', 'print all fields as CSV').conflicts('json'))
    .action(async (flags: ExecutionsFlags) => {
      end(await runExecutions(flags, io));
    });
}

async function runExecutions(flags: ExecutionsFlags, io: CommandIo): Promise<ExitCode> {
  const { issue: issueRef, run: runId, worker, decision, since, until } = flags;
  const rows = await withContext(
    flags,
    io,
    async ({ store }) =>
      readPages(flags.limit, async (page) =>
        store.listExecutions({ ...page, ...omitUndefined({ issueRef, runId, worker, decision, since, until }) }),
      ),
    { isReadOnly: true },
  );
  if (flags.csv === true) await io.stdout.write(formatExecutionHeading() + rows.map(formatExecutionRow).join(''));
  else await printRows(rows, COLUMNS, flags, io);
  return EXIT.success;
}

const COLUMNS = [
  { heading: 'TIME', value: ({ at }: ExecutionRecord) => at },
  { heading: 'ISSUE', value: ({ issue_ref }: ExecutionRecord) => issue_ref },
  { heading: 'RUN', value: ({ run_id }: ExecutionRecord) => run_id },
  { heading: 'WRAPPER', value: ({ worker }: ExecutionRecord) => worker },
  { heading: 'EXIT', value: ({ exit_code, signal }: ExecutionRecord) => signal ?? exit_code },
  {
    heading: 'RESULT',
    value: ({ result_encoding, parse_status }: ExecutionRecord) => `${result_encoding}, ${parse_status}`,
  },
  { heading: 'DECISION', value: ({ decision }: ExecutionRecord) => decision },
  { heading: 'REASON', value: ({ reason }: ExecutionRecord) => reason },
];
