import type { Command } from 'commander';
import type { DemoReport } from '../../dispatch/index.js';
import { loadConfig } from '../../config/index.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { withHouseOptions } from '../house.js';
import type { HouseFlags } from '../house.js';
import { isJsonDue, printJson } from '../print-json.js';
import { visibleText } from '../visible-text.js';

interface DemoFlags extends HouseFlags {
  readonly json?: boolean;
}

/** Adds `sluice demo` to the program. */
export function addDemoCommand(program: Command, io: CommandIo, end: (code: ExitCode) => void): void {
  withHouseOptions(program.command('demo'))
    .description('the closed loop, run for real: a JSON worker, a text worker, and one that only prints')
    .option('--json', 'JSON, also at a terminal')
    .action(async (flags: DemoFlags) => {
      end(await runDemoCommand(flags, io));
    });
}

async function runDemoCommand(flags: DemoFlags, io: CommandIo): Promise<ExitCode> {
  const { runDemo } = await import('../../dispatch/index.js');
  const { data, database } = await loadConfig({ cwd: process.cwd(), env: process.env, flags });
  await io.stderr.write('three workers get an order each\n');
  const report = await runDemo({ data, database });
  if (isJsonDue(flags, io)) await printJson(report, io);
  else await io.stdout.write(tellReport(report));
  return EXIT.success;
}

function tellReport({ orders, inbox }: DemoReport): string {
  const told = orders.map(({ issue_ref, run_id, worker, source, action, reason, delivered_to }) =>
    [
      `${worker}: ${issue_ref}, run ${run_id}`,
      `  read from  ${source}`,
      `  decision   ${action}: ${reason}`,
      `  comment    ${delivered_to ?? 'none'}`,
    ].join('\n'),
  );
  const waits = inbox.map(({ id, reason }) => `waits for you: ${id}: ${reason}`);
  return visibleText(`${[...told, ...waits].join('\n\n')}\n`);
}
